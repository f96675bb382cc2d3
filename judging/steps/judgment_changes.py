"""What importing a judge's labels would change of those that the judge has, told in little memory."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from judging.models import Collection, Judge, Judgment

Integers = npt.NDArray[np.int64]

# Comparing takes several arrays as long as what is compared, so that is done in parts.
_PARTS = 16


@dataclass(slots=True)
class Labels:
    """Pairs by the keys of query and document, and a hash of what is said of each: 24 bytes a label, 32 with its key.

    The hash is good within this process. That two answers have one is as likely as one in 2⁶⁴.
    """

    queries: array[int] = field(default_factory=lambda: array("q"))
    documents: array[int] = field(default_factory=lambda: array("q"))
    contents: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.queries)


def content_of(outcome: str, grade: int | None, comment: str) -> int:
    """A hash of what makes an answer another answer."""
    return hash(f"{outcome}\0{grade}\0{comment}")


def labels_of(judge: Judge, collection: Collection) -> Labels:
    """Those that the judge has, with their primary keys."""
    labels = Labels()
    rows = Judgment.objects.of(collection).filter(judge=judge)
    names = ("pk", "query", "document", "outcome", "grade", "comment")
    for key, query, document, *said in rows.values_list(*names).iterator(chunk_size=10_000):
        labels.keys.append(key)
        labels.queries.append(query)
        labels.documents.append(document)
        labels.contents.append(content_of(*said))
    return labels


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the labels stand in their lists: ``added`` and ``changed`` in the new one, ``removed`` in the old one."""

    added: Integers
    changed: Integers
    removed: Integers

    def __str__(self) -> str:
        numbers = ((self.added, "added"), (self.changed, "changed"), (self.removed, "removed"))
        return ", ".join(f"{len(places):,} {how}" for places, how in numbers if len(places)) or "nothing"


def difference(old: Labels, new: Labels) -> Difference:
    parts = [_difference_of_part(old, new, part) for part in range(_PARTS)]
    return Difference(*(np.sort(np.concatenate(places)) for places in zip(*parts, strict=True)))


def _difference_of_part(old: Labels, new: Labels, part: int) -> tuple[Integers, Integers, Integers]:
    """What is added, changed and removed of the documents whose keys leave this remainder."""
    in_old, in_new = (np.flatnonzero(_integers(labels.documents) % _PARTS == part) for labels in (old, new))
    pairs = _numbered(
        np.concatenate([_integers(old.queries)[in_old], _integers(new.queries)[in_new]]),
        np.concatenate([_integers(old.documents)[in_old], _integers(new.documents)[in_new]]),
    )
    before, after = pairs[: len(in_old)], pairs[len(in_old) :]
    _, both_old, both_new = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    differs = _integers(old.contents)[in_old[both_old]] != _integers(new.contents)[in_new[both_new]]
    return np.delete(in_new, both_new), in_new[both_new[differs]], np.delete(in_old, both_old)


def _numbered(queries: Integers, documents: Integers) -> Integers:
    """A number for each pair, equal for equal pairs."""
    _, queries = np.unique(queries, return_inverse=True)
    kinds, documents = np.unique(documents, return_inverse=True)
    numbers: Integers = queries * len(kinds) + documents
    return numbers


def _integers(values: array[int]) -> Integers:
    return np.frombuffer(values, dtype=np.int64) if values else np.empty(0, np.int64)
