"""files ─▶ import: a TREC run file becomes a run, all or nothing."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import Exists, OuterRef

from judging.errors import FileError
from judging.formats.checksum import checksum
from judging.formats.lines import size_of
from judging.formats.records import RunLine
from judging.formats.trec import read_run
from judging.measures.ranking import rank_order
from judging.models import Collection, Run
from judging.steps import lookup
from judging.steps.import_collection import ensure_documents
from judging.steps.progress import Meter, unmetered
from judging.steps.runs import Making, begin_run, complete, keep_hits


@dataclass
class RunReport:
    """``rank_disagreements`` counts the lines whose rank column does not say what their score does."""

    run: Run
    unchanged: bool = False
    queries: int = 0
    hits: int = 0
    other_queries: list[str] = field(default_factory=list)
    missing_documents: list[str] = field(default_factory=list)
    rank_disagreements: int = 0


def import_run(
    *, collection: Collection, path: Path, name: str | None = None, replace: bool = False, meter: Meter = unmetered
) -> RunReport:
    """Keep a run made elsewhere. The score decides the order: descending, ties by document id descending.

    Queries that the collection lacks are left out and counted; documents that the corpus lacks are kept by their id.
    """
    queries = lookup.query_keys(collection)
    rankings, others, tag = _read(path, queries, meter)
    if not rankings:
        found = f"but {min(others)!r} and others." if others else "for the file has no line."
        example = next(iter(queries), "none is loaded")
        problem = f"expected queries of {collection.slug} (such as {example!r}), found none of them, {found}"
        raise FileError(path, None, problem)
    disagreements = sum(ranking.sort() for ranking in rankings.values())
    making = Making(Run.Kind.IMPORTED, {"file": path.name, "sha256": checksum(path), "tag": tag})
    with transaction.atomic():
        run = begin_run(collection=collection, name=name or _stem(path), making=making, replace=replace)
        unchanged = run.completed_at is not None
        if not unchanged:
            for chunk in lookup.chunks(rankings.items(), 100):
                documents = ensure_documents(collection, {docid for _, ranking in chunk for docid in ranking.documents})
                keep_hits(run, ((queries[qid], ranking.hits(documents)) for qid, ranking in chunk))
            complete(run)
        missing = collection.documents.filter(Exists(run.hits.filter(document=OuterRef("pk"))), in_corpus=False)
        return RunReport(
            run,
            unchanged=unchanged,
            queries=len(rankings),
            hits=sum(len(ranking.documents) for ranking in rankings.values()),
            other_queries=sorted(others),
            missing_documents=sorted(missing.values_list("docid", flat=True)),
            rank_disagreements=disagreements,
        )


@dataclass(slots=True)
class _Ranking:
    """The lines of one query, in parallel: a run may have millions, and each would be an object of its own."""

    documents: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))

    def add(self, line: RunLine) -> None:
        self.documents.append(line.document)
        self.scores.append(line.score)
        self.ranks.append(line.rank)

    def sort(self) -> int:
        """Put the lines in the order of their scores; how many of them their rank column has elsewhere."""
        by_score = rank_order(self.documents, self.scores)
        by_rank = sorted(range(len(self.ranks)), key=self.ranks.__getitem__)
        self.documents = [self.documents[index] for index in by_score]
        self.scores = array("d", [self.scores[index] for index in by_score])
        return sum(a != b for a, b in zip(by_score, by_rank, strict=True))

    def hits(self, keys: Mapping[str, int]) -> list[tuple[int, float]]:
        return [(keys[docid], score) for docid, score in zip(self.documents, self.scores, strict=True)]


def _read(path: Path, queries: Container[str], meter: Meter) -> tuple[dict[str, _Ranking], set[str], str]:
    """The rankings of our queries, the ids of other ones, and the tag."""
    rankings: defaultdict[str, _Ranking] = defaultdict(_Ranking)
    others: set[str] = set()
    tag = ""
    for line in meter(lambda progress: read_run(path, progress=progress), size_of(path), "lines"):
        if line.query in queries:
            rankings[line.query].add(line)
            tag = tag or line.tag
        else:
            others.add(line.query)
    return dict(rankings), others, tag


def _stem(path: Path) -> str:
    """``BM25.txt.gz`` → ``BM25``; dots inside the name stay."""
    name = path.name
    for suffix in (".gz", ".zst", ".txt", ".trec", ".run"):
        name = name.removesuffix(suffix)
    return name
