"""How two judges, or several, compare on the pairs that they share.

Each function takes the grades of judges as vectors over the same pairs, nan (or None) where a judge gave none, and uses
only pairs that both graded. An undefined value is nan, never 0 or 1; ``panel`` also says why, and gives the intervals.

Every coefficient is computed on confusion matrices (…, G, G), whole stacks of them at once: ``coefficients`` holds
these cores, ``pairs`` makes the matrices.
"""

from judging.measures.agreement.functions import (
    PrecisionRecallF1,
    bias,
    cohen_kappa,
    confusion,
    gwet_ac,
    precision_recall_f1,
    prevalence,
    raw_agreement,
)
from judging.measures.agreement.paired import Contrast, Paired, paired
from judging.measures.agreement.panel import Ceiling, Comparison, Panel, ceiling, panel
from judging.measures.agreement.people import LeftOut, leave_one_out, majority, self_agreement
from judging.measures.agreement.raters import fleiss_kappa, krippendorff_alpha

__all__ = [
    "Ceiling",
    "Comparison",
    "Contrast",
    "LeftOut",
    "Paired",
    "Panel",
    "PrecisionRecallF1",
    "bias",
    "ceiling",
    "cohen_kappa",
    "confusion",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "leave_one_out",
    "majority",
    "paired",
    "panel",
    "precision_recall_f1",
    "prevalence",
    "raw_agreement",
    "self_agreement",
]
