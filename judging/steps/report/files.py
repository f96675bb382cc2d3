"""A report as one HTML file that needs nothing beside it, and as Markdown."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from django.template.loader import render_to_string

from judging.measures.intervals import Estimate
from judging.steps.agreement import evidence, tables
from judging.steps.agreement.compare import CROSS_FITTED
from judging.steps.agreement.figures import Scales
from judging.steps.agreement.tables import p_value, short
from judging.steps.evaluate import Score
from judging.steps.plots import Plot, as_svg
from judging.steps.report.content import Report


@dataclass(frozen=True, slots=True)
class Images:
    """A plot as addresses that hold the picture itself: the one to show, and others by media query; ``says`` is alt."""

    address: str
    sources: Sequence[tuple[str, str]]
    says: str


_MEDIA = {
    ("dark", "small"): "(prefers-color-scheme: dark) and (max-width: 45rem)",
    ("light", "small"): "(max-width: 45rem)",
    ("dark", "wide"): "screen and (prefers-color-scheme: dark)",
}


def as_html(report: Report) -> str:
    """Styles and plots are inside; plots are drawn for light and dark paper, for wide and narrow windows."""
    context = {
        "report": report,
        "drawn": [(one, _images(one.plot)) for one in report.judged],
        "judges_images": _images(report.judges_plot) if report.judges_plot else None,
    }
    return render_to_string("report.html", context)


def _images(plot: Plot) -> Images:
    sources = [(media, _address(plot, theme, size)) for (theme, size), media in _MEDIA.items()]
    return Images(_address(plot, "light", "wide"), sources, plot.says)


def _address(plot: Plot, theme: str, size: str) -> str:
    return "data:image/svg+xml;base64," + b64encode(as_svg(plot, theme=theme, size=size).encode()).decode()


def as_markdown(report: Report) -> str:
    """The same in Markdown, plots left out: their numbers stand in the tables."""
    parts = [f"# {report.pool.name}", *_what(report), tables.markdown(report.result), *_each_judge(report)]
    parts += [*_estimates(report), *_evaluation(report), _examples(report), *_provenance(report)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _what(report: Report) -> list[str]:
    pool, found, progress = report.pool, report.result.found, report.progress
    assert found is not None
    people = ", ".join(f"{one.name} ({one.answered:,})" for one in progress.annotators) or "nobody yet"
    lines = [
        f"Collection {pool.collection.name}. {found.pairs:,} pairs of {found.queries:,} queries, from the runs "
        f"{', '.join(run.name for run in report.provenance.runs)}: {pool.get_mode_display()}, depth {pool.depth}; "
        f"{pool.queries_sampled:,} of {pool.queries_available:,} queries drawn with seed {pool.seed}.",
        f"Judged by people: {found.judged:,} pairs ({people}). {found.undecided:,} undecided, "
        f"{found.cannot_judge:,} that nobody could judge, {report.result.assisted:,} labels given after seeing an "
        "LLM's and left out.",
    ]
    if found.judged:
        lines.append(
            f"Of the documents that the benchmark calls irrelevant, people find **{estimate(found.share)}** relevant: "
            f"{found.relevant:,} newly found beside {found.known:,} known positives; about {found.implied:,.0f} of the "
            f"{found.holes:,.0f} holes, if those not judged are like those that are."
        )
    return ["## What was judged, and by whom", *lines, "## Agreement"]


def estimate(one: Estimate) -> str:
    """``.576 (95 % interval .513 to .638)``, or why not."""
    if one.reason:
        return f"undefined ({one.reason})"
    interval = one.interval
    if interval is None or interval.reason:
        return f"{short(one.value)} (no interval: {interval.reason if interval else 'not asked for'})"
    return f"{short(one.value)} (95 % interval {short(interval.low)} to {short(interval.high)})"


def _each_judge(report: Report) -> list[str]:
    parts = []
    for judged in report.judged:
        one, difference = judged.beside.compared, judged.beside.difference
        rows = [f"| {line.label} | {estimate(line.estimate)} |" for line in judged.lines]
        words = [grade.word for grade in one.scale]
        confusion = [
            f"| people, LLM | {' | '.join(words)} |",
            f"| --- |{' ---: |' * len(words)}",
            *(
                f"| {grade.word} | {' | '.join(str(cell.count) for cell in cells)} |"
                for grade, cells in one.confusion_rows
            ),
        ]
        parts += [
            f"### {report.result.reference.capitalize()} with {one.judge.label}",
            "\n".join(["| coefficient | value |", "| --- | --- |", *rows]),
            _scales(judged.scales),
            "\n".join(confusion),
        ]
        if one.judge.is_calibrated:
            parts.append(CROSS_FITTED)
        if one.hides_low_kappa:
            parts.append("Nearly all pairs are of one kind: most of the raw agreement is what chance would give.")
        if difference:
            kappa = difference.graded["cohen_kappa"].difference
            parts.append(f"Kappa minus that of {report.judged[0].beside.compared.judge.name}: {estimate(kappa)}.")
    if not report.judged:
        parts.append("No LLM has judged pairs of this pool.")
    return parts


def _scales(found: Scales) -> str:
    rows = [
        f"| {label} | {' | '.join('' if one is None else tables.cell(one) for one in estimates)} |"
        for label, estimates in found.rows
    ]
    heading = f"| on | {' | '.join(found.headings)} |"
    return "\n".join([heading, f"| --- |{' --- |' * len(found.headings)}", *rows])


def _estimates(report: Report) -> list[str]:
    parts = ["## Estimates from labels of people and of an LLM"] if report.estimates else []
    for judge, found in report.estimates:
        if found.reason:
            parts.append(f"{judge.name}: none, {found.reason}.")
            continue
        rows = [
            f"| {row.name} | {estimate(row.joined.people)} | {short(row.joined.llm.value)} | "
            f"{estimate(row.joined.joined)} | {row.joined.gain.says} |"
            for row in found.rows
        ]
        heading = f"| measure | people alone | {judge.name} alone | joined | gain |"
        parts.append("\n".join([heading, "| --- | --- | ---: | --- | --- |", *rows]))
    return parts


def _evaluation(report: Report) -> list[str]:
    parts = [f"## Before and after ({report.measure})"]
    compared = report.evaluation
    if compared is None:
        return [*parts, report.no_evaluation]
    name = report.measure
    parts.append(POLICY)
    rows = [f"| {row.run.name} | {_score(row.before[name])} | {_score(row.after[name])} |" for row in compared.runs]
    parts.append("\n".join(["| run | original qrels | augmented qrels |", "| --- | --- | --- |", *rows]))
    parts.append(f"Kendall's tau between the two orders: {short(compared.tau[name])}. {_places(report)}")
    if report.tests:
        tests = [
            f"| {test.first} − {test.second} | {test.difference.value:+.3f} | {p_value(test.p)} |"
            for test in report.tests
        ]
        heading = "| runs, under the augmented qrels | difference | p, Holm-corrected |"
        parts.append("\n".join([heading, "| --- | ---: | ---: |", *tests]))
    return parts


def _places(report: Report) -> str:
    if not report.swapped:
        return "No two runs changed places."
    return "Changed places: " + "; ".join(f"{b.name} now before {a.name}" for a, b in report.swapped) + "."


def _score(score: Score) -> str:
    return estimate(Estimate(score.mean, "" if score.mean == score.mean else "no value", score.interval))


POLICY = (
    "Augmented qrels are the original ones, then adjudications, then the majority of people, then copies to documents "
    "of exactly the same text; grades of LLMs do not enter."
)


def _provenance(report: Report) -> list[str]:
    found = report.provenance
    lines = [f"- {name} {number}" for name, number in found.software]
    lines += [f"- `{name}`: SHA-256 `{digest}`" for name, digest in found.checksums]
    lines += [f"- run {run.name}: {run.get_kind_display()}, `{_json(run.identity)}`" for run in found.runs]
    lines += [
        f"- {judge.get_kind_display()} {judge.name}"
        + (f": fingerprint `{judge.fingerprint}`, `{_json(judge.configuration)}`" if judge.fingerprint else "")
        for judge in found.judges
    ]
    if found.latest:
        lines.append(f"- last label given at {found.latest.astimezone(UTC):%Y-%m-%d %H:%M} UTC")
    return ["## Provenance", "\n".join(lines)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _examples(report: Report) -> str:
    if not report.examples:
        return "## Examples\n\nPeople have found no document relevant yet."
    return evidence.markdown_of(report.examples, title="Examples", level=2)


def write_report(report: Report, folder: Path) -> list[Path]:
    """``report.html`` and ``report.md`` in the folder, which is made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in (("report.html", as_html(report)), ("report.md", as_markdown(report))):
        path = folder / name
        path.write_text(content, encoding="utf-8")
        written.append(path)
    return written
