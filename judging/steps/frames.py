"""What is kept and what was computed of it, as tidy pandas data frames: one row an observation, ids of the collection.

A pool or a collection may be given as such or by its short name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from judging.models import Collection, Hit, Judgment, Pool
from judging.steps import lookup
from judging.steps.agree import Agreement, judgments_of
from judging.steps.consensus import verdicts

if TYPE_CHECKING:
    import pandas as pd

    from judging.measures.intervals import Estimate

_JUDGMENTS = {
    "judge": "judge__name",
    "kind": "judge__kind",
    "fingerprint": "judge__fingerprint",
    "query": "query__qid",
    "document": "document__docid",
    "outcome": "outcome",
    "grade": "grade",
    "seconds": "seconds",
    "assisted": "assisted",
    "comment": "comment",
    "probabilities": "probabilities",
    "updated_at": "updated_at",
}
_HITS = {"run": "run__name", "query": "query__qid", "document": "document__docid", "rank": "rank", "score": "score"}
_PAIRS = {
    "query": "query__qid",
    "document": "document__docid",
    "position": "query_position",
    "best_rank": "best_rank",
    "stratum": "stratum",
    "inclusion_probability": "inclusion_probability",
}
COEFFICIENT_COLUMNS = (
    "judge", "fingerprint", "reference", "on", "coefficient", "value", "low", "high", "reason", "pairs", "queries",
)  # fmt: skip


def judgments(*, pool: Pool | str | None = None, collection: Collection | str | None = None) -> pd.DataFrame:
    """Every judgment of a pool's pairs, or of a collection with its original qrels, by judge, query and document.

    Columns: judge, kind, fingerprint, query, document, outcome, grade (Int64, <NA> where there is none), seconds,
    assisted, comment, probabilities (grade → p, or None), updated_at.
    """
    if pool is not None:
        rows = judgments_of(_pool(pool))
    elif collection is not None:
        rows = Judgment.objects.of(_collection(collection))
    else:
        raise ValueError("Judgments are those of a pool or of a collection.")
    ordered = rows.order_by("judge_id", "query_id", "document_id")
    frame = _frame(_JUDGMENTS, ordered.values_list(*_JUDGMENTS.values()).iterator(chunk_size=10_000))
    return frame.astype({"grade": "Int64", "seconds": "float64", "assisted": "bool"})


def hits(*, collection: Collection | str, run: str | None = None) -> pd.DataFrame:
    """Every hit of the complete runs of a collection, or of one of them: run, query, document, rank, score."""
    of = _collection(collection)
    runs = [lookup.run(of, run)] if run else list(of.runs.complete())
    rows = Hit.objects.filter(run__in=runs).order_by("run_id", "query_id", "rank").values_list(*_HITS.values())
    return _frame(_HITS, rows.iterator(chunk_size=10_000)).astype({"rank": "int64", "score": "float64"})


def pairs(*, pool: Pool | str) -> pd.DataFrame:
    """The pairs of a pool in the order in which they are served.

    Columns: query, document, position, best_rank, stratum, inclusion_probability, weight (its inverse), grade (of the
    people: an adjudication, else the majority of labels given unassisted; <NA> where there is none), labels (how many).
    """
    of = _pool(pool)
    said = verdicts(judgments_of(of).filter(assisted=False))
    rows = list(of.pairs.values_list("query", "document", *_PAIRS.values()))
    frame = _frame(_PAIRS, (row[2:] for row in rows))
    people = [said.get((row[0], row[1])) for row in rows]
    frame["weight"] = 1 / frame["inclusion_probability"].astype("float64")
    frame["grade"] = _whole([verdict.grade if verdict else None for verdict in people])
    frame["labels"] = [len(verdict.grades) if verdict else 0 for verdict in people]
    return frame


def coefficients(result: Agreement) -> pd.DataFrame:
    """Every coefficient of every judge with its interval, one a row; people with people are the judge ``people``.

    ``on`` is ``grades`` or the binarisation, such as ``>=2``. An undefined value is NaN, with its reason.
    """
    records: list[tuple[object, ...]] = []
    compared = [(one.judge.name, one.judge.fingerprint, result.reference, one.panel) for one in result.llms]
    everything = [*compared, *([("people", "", "people", result.people)] if result.people else [])]
    for name, fingerprint, reference, panel in everything:
        parts = {"grades": panel.graded} | {f">={at}": estimates for at, estimates in panel.binary.items()}
        records += [
            (name, fingerprint, reference, on, key, *_numbers(estimate), panel.pairs, panel.queries)
            for on, estimates in parts.items()
            for key, estimate in estimates.items()
        ]
    return _frame(dict.fromkeys(COEFFICIENT_COLUMNS, ""), records)


def _numbers(estimate: Estimate) -> tuple[float, float, float, str]:
    interval = estimate.interval
    if interval is None:
        return estimate.value, float("nan"), float("nan"), estimate.reason
    return estimate.value, interval.low, interval.high, estimate.reason or interval.reason


def _frame(columns: Mapping[str, str], rows: Iterable[Any]) -> pd.DataFrame:
    # pandas takes half a second to import: only who asks for a frame waits for it.
    import pandas as pd

    return pd.DataFrame.from_records(list(rows), columns=list(columns))


def _whole(grades: list[int | None]) -> pd.api.extensions.ExtensionArray:
    import pandas as pd

    return pd.array(grades, dtype="Int64")


def _pool(pool: Pool | str) -> Pool:
    return lookup.pool(pool) if isinstance(pool, str) else pool


def _collection(collection: Collection | str) -> Collection:
    return lookup.collection(collection) if isinstance(collection, str) else collection
