"""A report as one HTML file that needs nothing beside it, and as Markdown."""

from __future__ import annotations

from pathlib import Path

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from judging.measures.intervals import Estimate
from judging.steps.agreement import evidence, tables
from judging.steps.agreement.tables import short
from judging.steps.evaluate import Score
from judging.steps.plots import as_svg
from judging.steps.report.content import Report


def as_html(report: Report) -> str:
    """Styles and plots are inside; the plots are drawn for light paper, on which the whole report stands."""
    return render_to_string("report.html", {"report": report, "plots": [_svg(report, n) for n in _numbers(report)]})


def _numbers(report: Report) -> range:
    return range(len(report.coefficients))


def _svg(report: Report, number: int) -> SafeString:
    # Made here from numbers and escaped labels; nothing of it comes from a document.
    return mark_safe(as_svg(report.coefficients[number][2]))  # noqa: S308


def as_markdown(report: Report) -> str:
    """The same in Markdown, plots left out: their numbers stand in the tables."""
    parts = [f"# {report.pool.name}", *_what(report), tables.markdown(report.result), *_each_judge(report)]
    parts += [*_estimates(report), *_evaluation(report), *_provenance(report), _examples(report)]
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
    for beside, lines, _plot in report.coefficients:
        one = beside.compared
        rows = [f"| {line.label} | {estimate(line.estimate)} |" for line in lines]
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
            "\n".join(confusion),
        ]
        if one.hides_low_kappa:
            parts.append("Nearly all pairs are of one kind: most of the raw agreement is what chance would give.")
        if beside.difference:
            kappa = beside.difference.graded["cohen_kappa"].difference
            parts.append(f"Kappa minus that of {report.coefficients[0][0].compared.judge.name}: {estimate(kappa)}.")
    if not report.coefficients:
        parts.append("No LLM has judged pairs of this pool.")
    return parts


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
    rows = [f"| {row.run.name} | {_score(row.before[name])} | {_score(row.after[name])} |" for row in compared.runs]
    parts.append("\n".join(["| run | original qrels | augmented qrels |", "| --- | --- | --- |", *rows]))
    parts.append(f"Kendall's tau between the two orders: {short(compared.tau[name])}. {_places(report)}")
    if report.tests:
        tests = [
            f"| {test.first} − {test.second} | {test.difference.value:+.3f} | {test.p:.4f} |" for test in report.tests
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


def _provenance(report: Report) -> list[str]:
    found = report.provenance
    lines = [f"- {name} {number}" for name, number in found.software]
    lines += [f"- `{name}`: SHA-256 `{digest}`" for name, digest in found.checksums]
    lines += [f"- run {run.name}: {run.get_kind_display()}, `{run.identity}`" for run in found.runs]
    lines += [
        f"- {judge.get_kind_display()} {judge.name}"
        + (f": fingerprint `{judge.fingerprint}`" if judge.fingerprint else "")
        for judge in found.judges
    ]
    return ["## Provenance", "\n".join(lines)]


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
