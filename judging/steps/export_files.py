"""The files of an export, each made piece by piece, so that a corpus of any size can be written or sent."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from judging import VERSION
from judging.formats import beir, trec
from judging.formats.fields import is_one_word, refuse_white_space
from judging.formats.judgments import FORMS
from judging.formats.pieces import MadeFile
from judging.formats.records import Document, JudgmentLine, Qrel, Query
from judging.formats.tsv import refuse_unwritable, tsv_lines
from judging.models import Collection, Judge, Judgment
from judging.models import Query as QueryRow
from judging.steps.corpus import read_corpus
from judging.steps.lookup import chunks
from judging.steps.merge import Merged, Policy, merge_parts
from judging.steps.spool import Spool

FORMATS = ("beir", "trec")
JUDGMENTS = tuple(FORMS)
LAYOUTS = ("qrels", "beir")
MANIFEST = "manifest.json"
SOFTWARE = "unjudged"

# Queries whose judgments are in memory together.
_QUERIES = 20


@dataclass(frozen=True, slots=True)
class Content:
    """What an export holds beside the sources and the manifest.

    ``layout`` ``beir`` adds corpus and queries, so that the whole is a collection in BEIR's layout. ``formats`` None:
    those that can hold the ids. ``judgments``: the forms of the file of all judgments.
    """

    layout: str = "qrels"
    formats: Sequence[str] | None = FORMATS
    judgments: Sequence[str] = ("jsonl",)


class ExportFiles:
    """The files of one export. The augmented qrels are merged and their ids checked at once, the rest as it is read.

    The merged grades wait in a working copy, for several files are made of them and a million are too many to be kept.

    Raises: UserError for an id that cannot be written in a format of the content (it is named).
    """

    def __init__(self, collection: Collection, policy: Policy, content: Content) -> None:
        self.collection = collection
        self.policy = policy
        self.content = content
        self.unresolved: list[tuple[str, str, tuple[int, ...]]] = []
        self._counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._grades = Spool()
        ids = _Ids(content.formats)
        for part in merge_parts(collection=collection, policy=policy):
            ids.check(part)
            self._grades.fill((row.query, row.document, row.grade, row.source) for row in part.grades)
            self.unresolved += part.unresolved
            for source, counts in part.counts.items():
                self._counts[source] += counts
        self.formats = ids.writable()
        judges = Judge.objects.filter(pk__in=Judgment.objects.of(collection).values("judge"))
        # Sorted here, for databases order text in different ways.
        self.judges = sorted(judges, key=lambda judge: (judge.kind, judge.name, judge.fingerprint))
        self._checksums: dict[str, str] = {}

    def __iter__(self) -> Iterator[MadeFile]:
        """Each file with its pieces, to be written in this order; the manifest is the last."""
        for name, pieces in self._made():
            yield name, self._noted(name, pieces)
        yield MANIFEST, self._manifest_pieces()

    def _made(self) -> Iterator[MadeFile]:
        if self.content.layout == "beir":
            yield "corpus.jsonl", beir.document_lines(_documents(self.collection))
            yield "queries.jsonl", beir.query_lines(_queries(self.collection))
        if "beir" in self.formats:
            yield "qrels/augmented.tsv", beir.qrels_lines(self._qrels())
        if "trec" in self.formats:
            yield "qrels.trec", trec.qrels_lines(self._qrels())
        yield "sources.tsv", tsv_lines((*beir.QRELS_COLUMNS, "source"), self._sources())
        yield "unresolved.tsv", tsv_lines((*beir.QRELS_COLUMNS[:2], "grades"), self._unresolved())
        judges = {judge.pk: judge for judge in self.judges}
        for form in dict.fromkeys(self.content.judgments):
            # Asked for anew for each file, for they are too many to be kept.
            yield f"judgments.{form}", FORMS[form](_judgments(self.collection, judges))

    def _noted(self, name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
        sha256 = hashlib.sha256()
        for piece in pieces:
            sha256.update(piece)
            yield piece
        self._checksums[name] = sha256.hexdigest()

    def _qrels(self) -> Iterator[Qrel]:
        return (Qrel(query, document, grade) for query, document, grade, _ in self._grades)

    def _sources(self) -> Iterator[Sequence[object]]:
        return iter(self._grades)

    def _unresolved(self) -> Iterator[tuple[str, ...]]:
        return ((query, document, ",".join(map(str, grades))) for query, document, grades in self.unresolved)

    def _manifest_pieces(self) -> Iterator[bytes]:
        yield (json.dumps(self.manifest(), indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()

    def manifest(self) -> dict[str, Any]:
        """What the export is; complete once the other files are made."""
        collection = self.collection
        return {
            "collection": {
                "name": collection.slug,
                "scale": collection.scale.as_json(),
                "splits": collection.splits,
                "inputs": collection.checksums,
            },
            "layout": self.content.layout,
            "policy": self.policy.as_json(),
            "counts": {
                source: {str(grade): count for grade, count in sorted(grades.items())}
                for source, grades in self._counts.items()
            },
            "judgments": sum(counts.total() for counts in self._counts.values()),
            "unresolved": len(self.unresolved),
            "judges": [
                {"kind": j.kind, "name": j.name, "fingerprint": j.fingerprint, "configuration": j.configuration}
                for j in self.judges
            ],
            "files": self._checksums,
            "software": {"name": SOFTWARE, "version": VERSION},
        }


class _Ids:
    """Checks the ids of an export, part by part. UserError for one that cannot be written in a format asked for."""

    def __init__(self, formats: Sequence[str] | None) -> None:
        self._formats = formats
        self._are_words = True

    def check(self, merged: Merged) -> None:
        queries = sorted({row.query for row in merged.grades} | {query for query, _, _ in merged.unresolved})
        documents = sorted({row.document for row in merged.grades} | {document for _, document, _ in merged.unresolved})
        for column, ids in zip(beir.QRELS_COLUMNS[:2], (queries, documents), strict=True):
            for identifier in ids:
                refuse_unwritable(identifier, column)
        if self._formats is None:
            self._are_words = self._are_words and all(map(is_one_word, (*queries, *documents)))
        elif "trec" in self._formats:
            for what, ids in (("query", queries), ("document", documents)):
                for identifier in ids:
                    refuse_white_space(identifier, what)

    def writable(self) -> Sequence[str]:
        """The formats to write, every id of which they can hold."""
        if self._formats is not None:
            return self._formats
        return FORMATS if self._are_words else ("beir",)


def _documents(collection: Collection) -> Iterator[Document]:
    return (Document(*row) for row in read_corpus(collection, ("docid", "title", "text", "metadata")))


def _queries(collection: Collection) -> Iterator[Query]:
    own = QueryRow.objects.filter(collection=collection, in_corpus=True).order_by("pk")
    return (Query(*row) for row in own.values_list("qid", "text", "metadata"))


# What a judgment and its line in a file call alike.
_SAID = (
    "outcome",
    "grade",
    "probabilities",
    "raw",
    "comment",
    "seconds",
    "assisted",
    "truncated",
    "prompt_tokens",
    "completion_tokens",
    "created_at",
    "updated_at",
)


def _judgments(collection: Collection, judges: dict[int, Judge]) -> Iterator[JudgmentLine]:
    """What was judged here or brought here, a few queries at a time; the original qrels are in the qrels file."""
    ours = Judgment.objects.exclude(judge__kind=Judge.Kind.QRELS)
    queries = QueryRow.objects.filter(pk__in=ours.of(collection).values("query")).values_list("qid", "pk")
    for chunk in chunks(sorted(queries), _QUERIES):
        qids = {pk: qid for qid, pk in chunk}
        rows = ours.filter(query__in=qids).values_list("query", "document__docid", "judge", *_SAID)
        yield from sorted(
            (_line(qids[query], document, judges[judge], *said) for query, document, judge, *said in rows),
            key=lambda line: (line.query, line.document, line.kind, line.judge, line.fingerprint),
        )


def _line(query: str, document: str, judge: Judge, *said: Any) -> JudgmentLine:
    values = dict(zip(_SAID, said, strict=True))
    probabilities = {int(grade): value for grade, value in (values.pop("probabilities") or {}).items()}
    return JudgmentLine(
        query=query,
        document=document,
        judge=judge.name,
        kind=judge.kind,
        fingerprint=judge.fingerprint,
        probabilities=probabilities or None,
        **values,
    )
