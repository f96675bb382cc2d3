"""merge: the original qrels and what was judged here become one grade with one source for each (query, document)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from judging.models import Collection, Document, Judge, Judgment
from judging.steps.consensus import Key, verdicts
from judging.steps.lookup import chunks
from judging.steps.tables import Qrels, as_qrels

# Queries that are merged at a time: their judgments are in memory in several forms.
_QUERIES = 500


@dataclass(frozen=True, slots=True)
class Policy:
    """Which judgments enter. Original qrels always do and are never changed; people's come next.

    ``llm``: LLM judges whose grades fill what nobody has judged, the first named first. ``duplicates``: documents of
    exactly the same text take over the grade.
    """

    llm: tuple[Judge, ...] = ()
    duplicates: bool = True

    def as_json(self) -> dict[str, object]:
        order = ["qrels", "adjudicated", "people"]
        if self.duplicates:
            order.append("duplicates")
        if self.llm:
            order.append("llm")
        return {"order": order, "llm": [judge.label for judge in self.llm], "people_tie": "left out and listed"}


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
    """``grades`` in the order of (query, document) by code points.

    ``unresolved``: (query, document, the people's grades) of the pairs on which people are undecided, ordered alike.
    """

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
    merged = Merged([])
    for part in merge_parts(collection=collection, policy=policy):
        merged.grades += part.grades
        merged.unresolved += part.unresolved
    return merged


def merge_parts(*, collection: Collection, policy: Policy | None = None) -> Iterator[Merged]:
    """The same in parts of a few hundred queries each, in their order, for those who need not keep all."""
    for chunk in chunks(sorted(collection.queries.values_list("qid", "pk")), _QUERIES):
        yield _merge_queries(collection, policy or Policy(), {pk: qid for qid, pk in chunk})


def _merge_queries(collection: Collection, policy: Policy, qids: dict[int, str]) -> Merged:
    """The same of a few queries, by key: no query says anything of another."""
    judgments = Judgment.objects.filter(query__in=list(qids))
    original = judgments.original(collection).values_list("query", "document", "grade")
    merged: dict[Key, tuple[int, str]] = {
        (query, document): (grade, "qrels") for query, document, grade in original if grade is not None
    }
    ties: dict[Key, tuple[int, ...]] = {}
    for key, verdict in verdicts(judgments).items():
        if verdict.grade is not None:
            merged.setdefault(key, (verdict.grade, verdict.source))
        elif verdict.is_tie and key not in merged:
            ties[key] = verdict.grades
    docids = dict(Document.objects.filter(pk__in=judgments.values("document")).values_list("pk", "docid"))
    if policy.duplicates:
        docids |= _copy_to_duplicates(_copies_of_judged(collection, judgments), merged, ties)
    for judge in policy.llm:
        _fill_from(judge, judgments, merged, ties)
    return Merged(
        grades=sorted(
            (MergedGrade(qids[q], docids[d], grade, source) for (q, d), (grade, source) in merged.items()),
            key=lambda row: (row.query, row.document),
        ),
        unresolved=sorted((qids[q], docids[d], grades) for (q, d), grades in ties.items()),
    )


def _copy_to_duplicates(
    copies: QuerySet[Document], merged: dict[Key, tuple[int, str]], ties: dict[Key, tuple[int, ...]]
) -> dict[int, str]:
    """Give the grade of a text to its copies; the ids of all documents of such texts.

    Where the copies of a text were graded differently, nothing is copied: which is right cannot be told.
    """
    docids: dict[int, str] = {}
    members: defaultdict[bytes, list[int]] = defaultdict(list)
    for pk, docid, digest in copies.values_list("pk", "docid", "digest"):
        docids[pk] = docid
        members[bytes(digest)].append(pk)
    group_of = {pk: digest for digest, pks in members.items() if len(pks) > 1 for pk in pks}
    graded: defaultdict[tuple[int, bytes], list[Key]] = defaultdict(list)
    for key in merged:
        if (group := group_of.get(key[1])) is not None:
            graded[key[0], group].append(key)
    for (query, group), keys in graded.items():
        grades = {merged[key][0] for key in keys}
        if len(grades) > 1:
            continue
        copied = (grades.pop(), f"duplicate:{min(docids[document] for _, document in keys)}")
        for document in members[group]:
            if (query, document) not in merged and (query, document) not in ties:
                merged[query, document] = copied
    return docids


def _copies_of_judged(collection: Collection, judgments: QuerySet[Judgment]) -> QuerySet[Document]:
    """Documents with the text of a judged one, itself included: few, however large the corpus."""
    readable = Document.objects.filter(collection=collection, in_corpus=True, is_empty=False)
    # Not of ``readable``: told the collection as well, SQLite would look through all of it.
    judged = Document.objects.filter(pk__in=judgments.values("document"))
    return readable.filter(digest__in=judged.values("digest"))


def _fill_from(
    judge: Judge,
    judgments: QuerySet[Judgment],
    merged: dict[Key, tuple[int, str]],
    ties: dict[Key, tuple[int, ...]],
) -> None:
    source = f"llm:{judge.label}"
    rows = judgments.filter(judge=judge).values_list("query", "document", "grade")
    for query, document, grade in rows:
        if grade is not None and (query, document) not in ties:
            merged.setdefault((query, document), (grade, source))


def llm_judges_of(collection: Collection) -> Sequence[Judge]:
    """The LLM judges that judged something of the collection."""
    judges = Judgment.objects.of(collection).values("judge")
    return list(Judge.objects.filter(kind=Judge.Kind.LLM, pk__in=judges).order_by("pk"))
