"""Documents of one text, or nearly one, and how their judgments go together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.core.cache import caches
from django.db.models import Count, Max

from judging.formats.near_duplicates import near_duplicates
from judging.formats.records import Document as Record
from judging.models import Collection, Document
from judging.models.collection import DocumentQuerySet
from judging.steps.corpus import read_corpus
from judging.steps.merge import Policy, merge
from judging.steps.progress import Track, quiet

# Texts that are compared in about three seconds.
_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class GroupJudgments:
    """What is known of one group of documents for one query: the grades by document, and who has none."""

    query: str
    grades: Mapping[str, int]
    unjudged: tuple[str, ...]

    @property
    def is_conflict(self) -> bool:
        return len(set(self.grades.values())) > 1


@dataclass(slots=True)
class Group:
    """Documents of one text, by id; and the queries for which one of them is judged, by id."""

    documents: tuple[str, ...]
    queries: list[GroupJudgments] = field(default_factory=list)

    @property
    def conflicts(self) -> list[GroupJudgments]:
        return [query for query in self.queries if query.is_conflict]

    @property
    def incomplete(self) -> list[GroupJudgments]:
        return [query for query in self.queries if query.unjudged]


def duplicates(*, collection: Collection, near: float | None = None, track: Track = quiet) -> list[Group]:
    """The groups of documents that share their text, ordered by their first document.

    With ``near``, a resemblance above 0 and at most 1, also those whose texts differ in a few words; all texts are read
    for that, once for each corpus and threshold. Judged is what the original qrels, an adjudication or the people's
    majority grade; LLMs and copied grades do not count.

    Raises: UserError for a threshold that is none.
    """
    groups = [Group(ids) for ids in (_exact(collection) if near is None else _near(collection, near, track))]
    groups.sort(key=lambda group: group.documents)
    group_of = {docid: group for group in groups for docid in group.documents}
    graded: defaultdict[tuple[str, tuple[str, ...]], dict[str, int]] = defaultdict(dict)
    for row in merge(collection=collection, policy=Policy(duplicates=False)).grades:
        if (group := group_of.get(row.document)) is not None:
            graded[row.query, group.documents][row.document] = row.grade
    for (query, documents), grades in sorted(graded.items()):
        unjudged = tuple(docid for docid in documents if docid not in grades)
        group_of[documents[0]].queries.append(GroupJudgments(query, grades, unjudged))
    return groups


def _exact(collection: Collection) -> list[tuple[str, ...]]:
    members: defaultdict[bytes, list[str]] = defaultdict(list)
    for docid, digest in Document.objects.duplicated(collection).values_list("docid", "digest"):
        members[bytes(digest)].append(docid)
    return [tuple(sorted(docids)) for docids in members.values()]


def _near(collection: Collection, threshold: float, track: Track) -> list[tuple[str, ...]]:
    """The groups as found before, by whatever process; else found now and kept."""
    cache, key = caches["near_duplicates"], _key(collection, threshold)
    known: list[tuple[str, ...]] | None = cache.get(key)
    if known is None:
        total = _readable(collection).count()
        texts = ((docid, Record(docid, title, text).full_text) for docid, title, text in read_corpus(collection, _TEXT))
        groups = near_duplicates(track(texts, total, "documents compared"), threshold=threshold)
        known = [tuple(sorted(docids)) for docids in groups]
        cache.set(key, known)
    return known


_TEXT = ("docid", "title", "text")


def near_takes_long(collection: Collection, threshold: float) -> bool:
    """Whether the near duplicates would have to be looked for among more texts than a page can wait for."""
    if caches["near_duplicates"].has_key(_key(collection, threshold)):
        return False
    return _readable(collection).count() > _AT_ONCE


def _readable(collection: Collection) -> DocumentQuerySet:
    return Document.objects.filter(collection=collection, in_corpus=True, is_empty=False)


def _key(collection: Collection, threshold: float) -> str:
    state = _readable(collection).aggregate(count=Count("pk"), newest=Max("pk"))
    return (
        f"{collection.pk}:{collection.corpus_digest.replace(' ', '_')}:{state['count']}:{state['newest']}:{threshold:g}"
    )
