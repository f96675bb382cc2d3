"""What steps and measures say in English, said in the language of the page.

Measures and formats know no Django, and what they say is kept and exported in English; so it is translated where it is
shown. The list is there for ``makemessages``.
"""

from __future__ import annotations

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from judging.steps.language import in_language as sentence_in_language

# The usual scales of judging/formats/scale.py; a collection's own words are shown as they are.
SCALES = (
    _("Not relevant"),
    _("Does not help to answer"),
    _("Relevant"),
    _("Answers, at least in part"),
    _("Answers in part or indirectly"),
    _("Highly relevant"),
    _("Answers directly"),
    _("Related"),
    _("On the topic, no answer"),
    _("Perfect"),
    _("Dedicated to the answer"),
)

# Why a figure is undefined, or has no interval.
REASONS = (
    _("nothing was counted"),
    _("one of the two gave the same value to every pair"),
    _("all pairs are the same: they show no variation"),
    _("both gave one and the same grade to every pair, so agreement by chance is complete"),
    _("its pairs were drawn one by one, so no query is judged whole"),
    _("it graded no pair"),
    _("no pair has a probability and an answer by people"),
    _("no pair has an answer"),
    _("no pair has an expected grade and a grade by people"),
    _("no pair has such a probability"),
    _("only one query: there is no other to test the cut points on"),
    _("no pair has labels of two people: their noise is unknown"),
    _("how much of its variance is people's noise cannot be told from one grade a pair"),
    _("every pair that was graded by both has weight 0"),
    _("every pair with an answer has weight 0"),
    _("such means correct an LLM's labels by those of people"),
    _("the second judge called nothing relevant"),
    _("the first judge called nothing relevant"),
    _("neither judge called anything relevant"),
    _("too few queries judged by people to see how they vary"),
    _("too few queries judged by the LLM to see how they vary"),
    _("too few queries judged by both to see how they vary"),
    _("the queries judged by people show no variation"),
    _("the queries judged by the LLM show no variation"),
    _("the LLM is off by the same on every query: the queries judged by both show no variation"),
    _("no pair was graded by both"),
    _("no pair was graded by both within the scale: the judges may have used different scales"),
    _("no pair was graded by the reference and by both judges"),
    _("no person and this judge graded the same pair"),
    _("no query has a value"),
    _("no query has a value by people and by the LLM"),
    _("no query has two pairs: how the pairs of a query differ cannot be told"),
    _("only one query"),
    _("only one query: how queries differ cannot be told"),
    _("only the pairs of a pool have a best rank"),
    _("people gave one and the same grade to every pair: every cut does as well"),
    _("people have judged no query whole yet"),
    _("people judged every query: the value is known, not estimated"),
    _("such means are those of a pool's queries"),
    _("the queries of this collection have no topic"),
    _("the reference has no time"),
    _("the same in every resample: the pairs show no variation"),
    _("the scale has one grade only"),
    _("the scale has one grade only: there is nothing to cut"),
    _("the two judges gave the same grade to every pair"),
)

# What an LLM's labels add to people's; those with numbers are among the sentences.
GAINS = (
    _("Without a query judged by people nothing can be said of the gain."),
    _("The gain cannot be told: one of the two intervals is undefined."),
    _("The LLM adds nothing: people alone give as narrow an interval."),
)

# Rows of tables, and why pairs or documents were left out.
ROWS = (
    _("duplicate"),
    _("people"),
    _("qrels"),
    _("people undecided"),
    _("people could not judge"),
    _("share relevant"),
    _("relevant documents found a query"),
    _("on new queries"),
    _("on more pairs of the same queries"),
    _("as second opinions"),
    _("no topic"),
    _("not drawn"),
    _("without text"),
    _("empty"),
    _("self-match"),
    _("shown in the training"),
    _("duplicate of a judged document"),
    _("duplicate of a queued document"),
    _("Each person's own labels, not the majority."),
    _("A query is one cluster, so there are no intervals here."),
    _("The best rank that any of the pool's runs gave."),
    _("Quarters of the pairs by the length of the document's text."),
    _("Quarters of the pairs in the order in which people answered."),
)


# Ways to divide pairs, in the titles of plots.
PARTS = (_("rank"), _("query"), _("topic"), _("length"), _("time"), _("annotator"))

# Sentences with numbers in them: their templates.
SENTENCES = (
    _("without a value in %(lost)s of %(all)s resamples"),
    _("undefined for the first judge: %(reason)s"),
    _("undefined for the second judge: %(reason)s"),
    _("undefined for the first and the second judge: %(reason)s"),
    _("%(coefficient)s is undefined on these pairs, or next to being so"),
    _("The LLM does harm: its labels make the interval %(percent)s %% wider than people alone give."),
    _(
        "The LLM makes the interval %(percent)s %% narrower: %(judged)s queries judged by people tell as much as "
        "%(effective)s would without it."
    ),
    _("%(measure)s of %(run)s"),
    _("kappa of %(judge)s"),
    _("beyond %(rank)s"),
    _("%(first)s to %(last)s"),
    _("%(first)s to %(last)s characters"),
)

_OURS = {*SCALES, *REASONS, *GAINS, *ROWS}


def in_language(text: str) -> str:
    """The words in the language of the page, where they are ours; those of data and users as they are."""
    return gettext(text) if text in _OURS else sentence_in_language(text)
