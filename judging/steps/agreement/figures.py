"""What is drawn of an agreement: each plot with its alternative text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judging.formats.scale import Scale
from judging.measures.agreement import Comparison
from judging.measures.calibration import Calibration
from judging.measures.intervals import Estimate, Interval
from judging.steps.agreement.breakdown import Breakdown
from judging.steps.agreement.compare import LlmAgreement
from judging.steps.agreement.sheet import PEOPLE, QRELS
from judging.steps.agreement.tables import estimate_of, halves, short
from judging.steps.language import in_language
from judging.steps.plots.charts import Bin, Mark, Plot, forest_plot, reliability_plot


@dataclass(frozen=True, slots=True)
class Line:
    """A coefficient of the panel, and what people reach with each other."""

    label: str
    estimate: Estimate
    ceiling: Estimate | None


def lines(compared: Comparison, ceiling: Comparison | None, scale: Scale) -> list[Line]:
    """The coefficients that are shown, kappa and AC1 always together; on two grades some would say the same twice."""
    return [
        Line(label, estimate_of(compared, name, at), estimate_of(ceiling, name, at) if ceiling else None)
        for label, name, at in _shown(scale)
    ]


def _shown(scale: Scale) -> Iterator[tuple[str, str, int | None]]:
    own = scale.relevant_from
    yield _("Raw agreement"), "raw_agreement", None
    yield _("Cohen's kappa"), "cohen_kappa", None
    if not scale.is_binary:
        yield _("Kappa, relevant or not"), "cohen_kappa", own
        yield _("Quadratic kappa"), "quadratic_kappa", None
    yield _("Alpha, ordinal") if not scale.is_binary else _("Alpha"), "krippendorff_alpha", None
    yield _("AC1"), "gwet_ac1", None
    if not scale.is_binary:
        yield _("AC2, quadratic"), "gwet_ac2", None
    yield _("F1 of “relevant”"), "f1", own


@dataclass(frozen=True, slots=True)
class Scales:
    """Every coefficient on the whole scale and on each binarisation, the collection's own one first.

    ``headings`` are those of the columns; ``rows`` a label and an estimate a column, None where it has no meaning.
    """

    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Estimate | None]]]


def scales(compared: Comparison, scale: Scale, *, first: str, second: str) -> Scales:
    """The whole panel; a binary scale has one column, for its one binarisation is itself. The two sides are named."""
    own = {True: _(" (relevant or not)"), False: ""}
    binary = [(halves(compared.grades, at) + own[at == scale.relevant_from], of) for at, of in compared.binary.items()]
    columns: list[tuple[str, Mapping[str, Estimate]]]
    if scale.is_binary:
        (_heading, of) = binary[0]
        columns = [(_("Relevant or not"), {**compared.graded, **of})]
    else:
        columns = [(_("All grades"), compared.graded), *binary]
    wanted = [
        (name, label) for name, label in _names(first, second) if not (scale.is_binary and name in _SAME_ON_TWO_GRADES)
    ]
    return Scales(
        [heading for heading, _of_column in columns],
        [(label, [of.get(name) for _heading, of in columns]) for name, label in wanted],
    )


# On two grades these say the same as their plain forms.
_SAME_ON_TWO_GRADES = frozenset({"linear_kappa", "quadratic_kappa", "gwet_ac2"})


def _names(first: str, second: str) -> list[tuple[str, str]]:
    return [
        ("raw_agreement", _("Raw agreement")),
        ("cohen_kappa", _("Cohen's kappa")),
        ("linear_kappa", _("Linear kappa")),
        ("quadratic_kappa", _("Quadratic kappa")),
        ("krippendorff_alpha", _("Krippendorff's alpha")),
        ("gwet_ac1", _("AC1")),
        ("gwet_ac2", _("AC2, quadratic")),
        ("precision", _("Precision of “relevant”")),
        ("recall", _("Recall of “relevant”")),
        ("f1", _("F1 of “relevant”")),
        ("prevalence_first", _("Relevant to %(judge)s") % {"judge": first}),
        ("prevalence_second", _("Relevant to %(judge)s") % {"judge": second}),
        ("bias", _("Bias of %(judge)s") % {"judge": second}),
    ]


def coefficients_plot(one: LlmAgreement, ceiling: Comparison | None, reference: str) -> Plot:
    marks = [
        Mark(line.label, line.estimate.value, *_ends(line.estimate), *_band(line.ceiling))
        for line in lines(one.panel, ceiling, one.scale)
    ]
    title = _("Coefficients of agreement, %(reference)s with %(judge)s") % {
        "reference": _named(reference), "judge": one.judge.name}  # fmt: skip
    return forest_plot(title, _with_intervals(title, marks), marks)


def judges_plot(llms: Sequence[LlmAgreement], people: Comparison | None, reference: str) -> Plot:
    """Cohen's kappa of every judge; the band is what people reach with each other."""
    ceiling = people.graded["cohen_kappa"] if people else None
    names = Counter(one.judge.name for one in llms)
    marks = [
        Mark(
            one.judge.name if names[one.judge.name] == 1 else one.judge.label,
            kappa.value,
            *_ends(kappa),
            *_band(ceiling),
        )
        for one in llms
        for kappa in (one.panel.graded["cohen_kappa"],)
    ]
    title = _("Cohen's kappa of each judge with %(reference)s") % {"reference": _named(reference)}
    return forest_plot(title, _with_intervals(title, marks), marks, axis=_("Cohen's kappa"))


def _named(reference: str) -> str:
    return _(reference) if reference in {PEOPLE, QRELS} else reference


def breakdown_plot(parts: Breakdown) -> Plot:
    """Raw agreement of each group: defined in the smallest, where kappa is not."""
    marks = [
        Mark(in_language(group.label), agreed.value, *_ends(agreed), note=_pairs(group.panel.pairs))
        for group in parts.groups[:40]
        for agreed in (group.panel.graded["raw_agreement"],)
    ]
    title = _("Raw agreement by %(part)s") % {"part": _(parts.by)}
    return forest_plot(title, _with_intervals(title, marks), marks, axis=_("raw agreement"))


def calibration_plot(calibrated: Calibration, name: str) -> Plot:
    bins = [Bin(b.mean_probability, b.relevant.value, *_ends(b.relevant), b.pairs) for b in calibrated.bins if b.pairs]
    said = "; ".join(f"{short(b.said, 2)}: {short(b.found, 2)} ({_pairs(b.pairs)})" for b in bins)
    title = _("Reliability of %(judge)s's probabilities") % {"judge": name}
    says = _("%(title)s: the mean probability it gives, and the share that people call relevant. %(values)s.") % {
        "title": title,
        "values": said or _("No pair"),
    }
    return reliability_plot(title, says, bins)


def _with_intervals(title: str, marks: Sequence[Mark]) -> str:
    return _("%(title)s, with 95 %% intervals. %(values)s") % {"title": title, "values": _spoken(marks)}


def _pairs(count: int) -> str:
    return ngettext("%(pairs)s pair", "%(pairs)s pairs", count) % {"pairs": count}


def _spoken(marks: Sequence[Mark]) -> str:
    if not marks:
        return _("There is nothing to show.")
    return "; ".join(_phrase(mark) for mark in marks[:12]) + ("." if len(marks) <= 12 else _("; more in the table."))


def _phrase(mark: Mark) -> str:
    ends = {"low": short(mark.low, 2), "high": short(mark.high, 2)}
    interval = "" if math.isnan(mark.low) else " " + _("(%(low)s to %(high)s)") % ends
    return f"{mark.label} {short(mark.value, 2)}{interval}"


def _ends(estimate: Estimate) -> tuple[float, float]:
    interval = estimate.interval
    return (interval.low, interval.high) if interval else (math.nan, math.nan)


def _band(estimate: Estimate | None) -> tuple[float, float]:
    """The interval of the human ceiling; without one, a thin stroke at its value."""
    if estimate is None or math.isnan(estimate.value):
        return math.nan, math.nan
    interval: Interval | None = estimate.interval
    if interval is None or math.isnan(interval.low):
        return estimate.value - 0.004, estimate.value + 0.004
    return interval.low, interval.high
