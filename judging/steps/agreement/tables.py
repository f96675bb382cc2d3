"""Agreement as a table: a row a judge, for the shell, Markdown, LaTeX and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from judging.measures.agreement import Ceiling, Comparison
from judging.measures.intervals import Estimate
from judging.measures.resampling import RESAMPLES, SEED
from judging.steps.agree import Agreement

Row = list[str]

# Four digits would say .0000 of less, and a test of 10,000 resamples cannot find less.
LEAST_P = 0.0001


def columns(grades: Sequence[int], relevant_from: int) -> list[tuple[str, str, int | None]]:
    """(heading, coefficient, threshold) of each column; threshold None is the whole scale, the own one comes first."""
    binary = len(grades) == 2
    thresholds = [] if binary else sorted(grades[1:])
    return [
        ("raw agreement", "raw_agreement", None),
        ("kappa" if binary else f"kappa, {len(grades)} levels", "cohen_kappa", None),
        *(
            (f"kappa, {halves(grades, at)}{' *' if at == relevant_from else ''}", "cohen_kappa", at)
            for at in thresholds
        ),
        *([] if binary else [("quadratic kappa", "quadratic_kappa", None)]),
        ("alpha" if binary else "alpha, ordinal", "krippendorff_alpha", None),
        ("AC1", "gwet_ac1", None),
        ("bias", "bias", None),
    ]


def rows_of(result: Agreement) -> Iterator[tuple[str, Comparison, str]]:
    """(judge, comparison, notes) of each row; people with people come last."""
    for one in result.llms:
        notes = [f"{count:,} {why}" for why, count in sorted(one.left_out.items())]
        notes += [f"{one.clipped:,} clipped"] if one.clipped else []
        yield one.judge.name, one.panel, ", ".join(notes)
    if result.people:
        yield "people with people", result.people, ""


def table(result: Agreement) -> tuple[Row, list[Row]]:
    """Heading and rows; every coefficient with its interval in brackets."""
    scale = result.collection.scale
    wanted = columns(scale.values, scale.relevant_from)
    heading = ["judge", "pairs", *(name for name, _, _ in wanted), "left out"]
    return heading, [
        [name, f"{compared.pairs:,}", *(_cell(compared, key, at) for _, key, at in wanted), notes]
        for name, compared, notes in rows_of(result)
    ]


def _cell(compared: Comparison, name: str, threshold: int | None) -> str:
    # Among people there is no first and second: the difference is 0 by the way it is computed.
    return "" if name == "bias" and isinstance(compared, Ceiling) else cell(estimate_of(compared, name, threshold))


def estimate_of(compared: Comparison, name: str, threshold: int | None) -> Estimate:
    """A coefficient on the whole scale (threshold None) or on a binarisation."""
    return compared.graded[name] if threshold is None else compared.binary[threshold][name]


def cell(estimate: Estimate) -> str:
    """``.2863 [.162, .395]``; the words undefined or no interval where there is none."""
    if math.isnan(estimate.value):
        return "undefined"
    interval = estimate.interval
    if interval is None or math.isnan(interval.low):
        return f"{short(estimate.value, 4)} [no interval]"
    return f"{short(estimate.value, 4)} [{short(interval.low)}, {short(interval.high)}]"


def short(value: float, digits: int = 3) -> str:
    """``0.8123`` → ``.812``, and ``undefined``."""
    if math.isnan(value):
        return "undefined"
    sign = "-" if value < 0 and float(f"{value:.{digits}f}") else ""
    return sign + (f"{abs(value):.{digits}f}".removeprefix("0") if abs(value) < 1 else f"{abs(value):.{digits}f}")


def p_value(p: float) -> str:
    """``.0312``; ``< .0001`` for what would be read as none at all."""
    return f"< {short(LEAST_P, 4)}" if p < LEAST_P else short(p, 4)


def halves(grades: Sequence[int], at: int) -> str:
    """``01/23``: which grades stand on either side; with blanks where one has two digits."""
    between = "" if all(0 <= grade <= 9 for grade in grades) else " "
    low, high = ([str(grade) for grade in grades if (grade >= at) == above] for above in (False, True))
    return f"{between.join(low)}/{between.join(high)}"


def caption(result: Agreement) -> str:
    """What the numbers were computed from, as a sentence or two."""
    of = result.pool.slug if result.pool else result.collection.slug
    graded = ~np.isnan(result.sheet.reference.grades)
    pairs, queries = int(graded.sum()), np.unique(result.sheet.queries[graded]).size
    weighted = " Weighted by 1 / inclusion probability." if result.sheet.weights is not None else ""
    return (
        f"{of}: LLMs against {result.reference}, who graded {pairs:,} pairs of {queries:,} queries. In brackets 95 % "
        f"intervals, whole queries resampled {RESAMPLES:,} times, seed {SEED}.{weighted}"
    )


def markdown(result: Agreement) -> str:
    heading, rows = table(result)
    lines = [heading, ["---", *["---:"] * (len(heading) - 2), "---"], *rows]
    body = "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)
    return f"{caption(result)}\n\n{body}\n"


_LATEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_"
}


def latex(result: Agreement) -> str:
    """A table for booktabs."""
    heading, rows = table(result)
    body = [" & ".join(map(_escaped, row)) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(caption(result))}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(heading) - 2)}l}}",
            r"\toprule",
            " & ".join(map(_escaped, heading)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def as_json(result: Agreement) -> dict[str, Any]:
    """Everything in plain types; None where a value is undefined, beside its reason."""
    found = result.found
    return {
        "of": result.pool.slug if result.pool else result.collection.slug,
        "reference": result.reference,
        "caption": caption(result),
        "share_relevant": estimate_json(found.share) | {"judged": found.judged, "pairs": found.pairs}
        if found
        else None,
        "judges": [
            {
                "judge": one.judge.name,
                "fingerprint": one.judge.fingerprint,
                "outcomes": one.outcomes,
                "left_out": one.left_out,
                "clipped": one.clipped,
                "confusion": one.counts.astype(int).tolist(),
                **_comparison_json(one.panel),
            }
            for one in result.llms
        ],
        "people": _comparison_json(result.people) if result.people else None,
    }


def _comparison_json(compared: Comparison) -> dict[str, Any]:
    return {
        "pairs": compared.pairs,
        "queries": compared.queries,
        "weighted": compared.weighted,
        "grades": list(compared.grades),
        "graded": {name: estimate_json(estimate) for name, estimate in compared.graded.items()},
        "binary": {
            str(at): {name: estimate_json(estimate) for name, estimate in estimates.items()}
            for at, estimates in compared.binary.items()
        },
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    return {
        "value": _or_none(estimate.value),
        "low": _or_none(interval.low) if interval else None,
        "high": _or_none(interval.high) if interval else None,
        "reason": estimate.reason or (interval.reason if interval else ""),
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
