"""merge: the original qrels and what was judged here become one grade with one source for each (query, document)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from judging.models import Collection, Document, Judge, Judgment
from judging.steps.consensus import Key, verdicts
from judging.steps.tables import Qrels, as_qrels


@dataclass(frozen=True, slots=True)
class Policy:
    """Which judgments enter. Original qrels always do and are never changed; people's come next.

    ``llm``: LLM judges whose grades fill what nobody has judged, the first named first. ``duplicates``: documents of
    exactly the same text take over the grade.
    """

    llm: tuple[Judge, ...] = ()
    duplicates: bool = True

    def as_json(self) -> dict[str, object]:
        return {
            "order": ["qrels", "adjudicated", "people", *(["duplicates"] if self.duplicates else []), *(["llm"] if self.llm else [])],
            "llm": [judge.label for judge in self.llm],
            "people_tie": "left out and listed",
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class MergedGrade:
    query: str
    document: str
    grade: int
    source: str

    @property
    def kind(self) -> str:
        """The source without its detail: ``qrels``, ``adjudicated``, ``people``, ``duplicate``, ``llm``."""
        return self.source.partition(":")[0]


@dataclass
class Merged:
    """``grades`` in the order of (query, document) by code points. ``unresolved``: (query, document, people's grades)."""

    grades: list[MergedGrade]
    unresolved: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)

    @property
    def qrels(self) -> Qrels:
        return as_qrels((row.query, row.document, row.grade) for row in self.grades)

    @property
    def counts(self) -> dict[str, Counter[int]]:
        """How often each source gave each grade."""
        counted: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for row in self.grades:
            counted[row.kind][row.grade] += 1
        return dict(counted)


def merge(*, collection: Collection, policy: Policy | None = None) -> Merged:
    """The augmented qrels under a policy; the default takes everything but LLM grades."""
    policy = policy or Policy()
    original = Judgment.objects.original(collection).values_list("query", "document", "grade")
    merged: dict[Key, tuple[int, str]] = {(query, document): (grade, "qrels") for query, document, grade in original}
    ties: dict[Key, tuple[int, ...]] = {}
    for key, verdict in verdicts(Judgment.objects.of(collection)).items():
        if verdict.grade is not None:
            merged.setdefault(key, (verdict.grade, verdict.source))
        elif verdict.is_tie and key not in merged:
            ties[key] = verdict.grades
    ids = _Ids(collection)
    if policy.duplicates:
        _copy_to_duplicates(collection, merged, ties, ids)
    for judge in policy.llm:
        _fill_from(judge, collection, merged, ties)
    return Merged(
        sorted(
            (MergedGrade(ids.query[q], ids.document(d), grade, source) for (q, d), (grade, source) in merged.items()),
            key=lambda row: (row.query, row.document),
        ),
        sorted((ids.query[q], ids.document(d), grades) for (q, d), grades in ties.items()),
    )


def _copy_to_duplicates(
    collection: Collection, merged: dict[Key, tuple[int, str]], ties: dict[Key, tuple[int, ...]], ids: _Ids
) -> None:
    """Where the copies of a text were graded differently, nothing is copied: which is right cannot be told."""
    group_of, members = _duplicate_groups(collection)
    graded: defaultdict[tuple[int, bytes], list[Key]] = defaultdict(list)
    for key in merged:
        if (group := group_of.get(key[1])) is not None:
            graded[key[0], group].append(key)
    for (query, group), keys in graded.items():
        if len({merged[key][0] for key in keys}) > 1:
            continue
        grade = merged[keys[0]][0]
        donor = min(ids.document(document) for _, document in keys)
        for document in members[group]:
            if (query, document) not in merged and (query, document) not in ties:
                merged[query, document] = (grade, f"duplicate:{donor}")


def _duplicate_groups(collection: Collection) -> tuple[dict[int, bytes], dict[bytes, list[int]]]:
    """Documents that share their text with another: document → digest, digest → documents."""
    members: defaultdict[bytes, list[int]] = defaultdict(list)
    for pk, digest in Document.objects.duplicated(collection).values_list("pk", "digest"):
        members[bytes(digest)].append(pk)
    return {pk: digest for digest, pks in members.items() for pk in pks}, members


def _fill_from(
    judge: Judge, collection: Collection, merged: dict[Key, tuple[int, str]], ties: dict[Key, tuple[int, ...]]
) -> None:
    rows = Judgment.objects.of(collection).graded().filter(judge=judge).values_list("query", "document", "grade")
    for query, document, grade in rows:
        if (query, document) not in ties:
            merged.setdefault((query, document), (grade, f"llm:{judge.label}"))


class _Ids:
    """The collection's own ids; documents are looked up a batch at a time, for a corpus may be large."""

    def __init__(self, collection: Collection) -> None:
        self.query: dict[int, str] = dict(collection.queries.values_list("pk", "qid"))
        judged = Judgment.objects.of(collection).values("document")
        self._documents: dict[int, str] = dict(
            Document.objects.filter(pk__in=judged).values_list("pk", "docid")
        ) | dict(Document.objects.duplicated(collection).values_list("pk", "docid"))

    def document(self, pk: int) -> str:
        return self._documents[pk]


def llm_judges_of(collection: Collection) -> Sequence[Judge]:
    """The LLM judges that judged something of the collection."""
    return list(
        Judge.objects.filter(kind=Judge.Kind.LLM, judgments__query__collection=collection).distinct().order_by("pk")
    )
