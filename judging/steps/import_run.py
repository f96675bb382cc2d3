"""files ─▶ import: a TREC run file becomes a run, all or nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from judging.errors import FileError
from judging.formats.checksum import checksum
from judging.formats.records import RunLine
from judging.formats.trec import read_run
from judging.measures.ranking import rank_order
from judging.models import Collection, Run
from judging.steps import lookup
from judging.steps.import_collection import ensure_documents
from judging.steps.progress import Track, quiet
from judging.steps.runs import begin_run, complete, keep_hits


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
    *, collection: Collection, path: Path, name: str | None = None, replace: bool = False, track: Track = quiet
) -> RunReport:
    """Keep a run made elsewhere. The score decides the order: descending, ties by document id descending.

    Queries that the collection lacks are left out and counted; documents that the corpus lacks are kept by their id.
    """
    by_query: defaultdict[str, list[RunLine]] = defaultdict(list)
    for line in track(read_run(path), None, "lines"):
        by_query[line.query].append(line)
    queries = lookup.query_keys(collection)
    ours = {qid: lines for qid, lines in by_query.items() if qid in queries}
    if not ours:
        raise FileError(
            path,
            None,
            f"expected queries of {collection.slug} (such as {next(iter(queries), 'none')!r}), found none of them"
            + (f" but {next(iter(by_query))!r} and others." if by_query else ": the file has no line."),
        )
    with transaction.atomic():
        run = begin_run(
            collection=collection,
            name=name or _stem(path),
            kind=Run.Kind.IMPORTED,
            identity={"file": path.name, "sha256": checksum(path), "tag": next(iter(ours.values()))[0].tag},
            replace=replace,
        )
        report = RunReport(run, other_queries=sorted(by_query.keys() - ours.keys()))
        report.unchanged = run.completed_at is not None
        documents = ensure_documents(collection, {line.document for lines in ours.values() for line in lines})
        rankings = []
        for qid, lines in ours.items():
            ranked = _in_order(lines)
            in_file = sorted(lines, key=lambda line: line.rank)
            report.rank_disagreements += sum(a is not b for a, b in zip(ranked, in_file, strict=True))
            rankings.append((queries[qid], [(documents[line.document], line.score) for line in ranked]))
        report.queries = len(rankings)
        report.hits = sum(len(hits) for _, hits in rankings)
        report.missing_documents = (
            sorted(
                collection.documents.filter(pk__in=set(documents.values()), in_corpus=False).values_list(
                    "docid", flat=True
                )
            )
            if len(documents) < 30_000
            else []
        )
        if not report.unchanged:
            keep_hits(run, rankings)
            complete(run)
    return report


def _in_order(lines: list[RunLine]) -> list[RunLine]:
    order = rank_order([line.document for line in lines], [line.score for line in lines])
    return [lines[index] for index in order]


def _stem(path: Path) -> str:
    """``BM25.txt.gz`` → ``BM25``; dots inside the name stay."""
    name = path.name
    for suffix in (".gz", ".zst", ".txt", ".trec", ".run"):
        name = name.removesuffix(suffix)
    return name
