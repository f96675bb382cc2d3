"""Ranking measures over all queries of a run at once.

``evaluate`` is the door: qrels and rankings in, one value a query out. Names are those that ir_measures prints;
``judged@k`` is ours. Gains are linear, the discount is log2, and a query of the qrels that the run lacks scores 0.
"""

from judging.measures.ranking.evaluation import Evaluation, evaluate
from judging.measures.ranking.graded import Graded, grade_rankings
from judging.measures.ranking.names import Measure, parse_measure
from judging.measures.ranking.order import rank_order

__all__ = ["Evaluation", "Graded", "Measure", "evaluate", "grade_rankings", "parse_measure", "rank_order"]
