"""What is drawn of an LLM's quality: each plot with its alternative text."""

from __future__ import annotations

from django.utils.translation import gettext as _

from judging.steps.agreement.figures import calibration_plot
from judging.steps.language import word_in_language
from judging.steps.plots import Bar, Plot
from judging.steps.plots.columns import bars_plot, histogram_plot
from judging.steps.quality.content import Said

NAMES = ("grades", "expected", "reliability")


def plot_of(said: Said, name: str) -> Plot | None:
    """``grades``, ``expected`` or ``reliability``; None where there is nothing to draw."""
    match name:
        case "grades":
            return _grades(said)
        case "expected" if said.expected:
            return _expected(said)
        case "reliability" if said.calibration and said.calibration.pairs:
            return calibration_plot(said.calibration, said.compared.judge.name)
    return None


def _grades(said: Said) -> Plot | None:
    """On the pairs that both graded; of the judge alone where there are none."""
    judge, rows = said.compared.judge.name, said.grades
    if not any(one.judge_all for one in rows):
        return None
    if any(one.judge_both for one in rows):
        title = _("Grades of %(judge)s and of people, on the pairs that both graded") % {"judge": judge}
        bars = [
            bar
            for one in rows
            for bar in (
                Bar(word_in_language(one.word), _("LLM"), one.judge_both, one.judge_both_share),
                Bar(word_in_language(one.word), _("people"), one.people_both, one.people_both_share),
            )
        ]
    else:
        title = _("Grades of %(judge)s, on all pairs that it graded") % {"judge": judge}
        bars = [Bar(word_in_language(one.word), _("LLM"), one.judge_all, one.judge_all_share) for one in rows]
    values = "; ".join(f"{bar.label}, {bar.series} {bar.count} ({100 * bar.share:.0f} %)" for bar in bars)
    return bars_plot(title, f"{title}. {values}.", bars, axis=_("share of the pairs"))


def _expected(said: Said) -> Plot:
    title = _("Expected grades of %(judge)s, by what people say of the pairs") % {"judge": said.compared.judge.name}
    sides = (
        (_("people: relevant"), "relevant"),
        (_("people: not relevant"), "other"),
        (_("not judged by people"), "unjudged"),
    )
    shown = [(label, name) for label, name in sides if any(getattr(bar, name) for bar in said.expected)]
    bars = [
        Bar("", label, getattr(bar, name), 0.0, bar.low, bar.high)
        for label, name in shown
        for bar in said.expected
        if getattr(bar, name)
    ]
    values = "; ".join(
        f"{label}: " + ", ".join(f"{bar.count} × {bar.low:.2f}–{bar.high:.2f}" for bar in bars if bar.series == label)
        for label, _name in shown
    )
    ends = (said.expected[0].low, said.expected[-1].high)
    return histogram_plot(title, f"{title}. {values}.", bars, axis=_("expected grade"), domain=ends)
