"""agreement: how people and LLMs compare on the pairs of a pool or a collection, and what people found in a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judging.errors import UserError
from judging.measures.agreement import Ceiling
from judging.models import Collection, Pool
from judging.steps.agreement.compare import LlmAgreement, compare, human_ceiling
from judging.steps.agreement.found import Found, found_in
from judging.steps.agreement.sheet import (
    PEOPLE,
    QRELS,
    Answers,
    Sheet,
    judgments_of,
    sheet_of_collection,
    sheet_of_pool,
)

__all__ = [
    "Agreement",
    "LlmAgreement",
    "agreement",
    "agreement_of",
    "between",
    "judgments_of",
    "sheet_of",
]


@dataclass(frozen=True, slots=True)
class Agreement:
    """``people`` compares people with people where two or more judged a pair; None where none did.

    ``found``     what people found in the pool; None for a whole collection, and where people are not the reference
    ``assisted``  counts the labels that were left out because the person had seen an LLM's
    """

    sheet: Sheet
    found: Found | None
    llms: Sequence[LlmAgreement]
    people: Ceiling | None
    annotators: int
    assisted: int = 0

    @property
    def collection(self) -> Collection:
        return self.sheet.collection

    @property
    def pool(self) -> Pool | None:
        return self.sheet.pool

    @property
    def reference(self) -> str:
        return self.sheet.reference.name


def sheet_of(
    *, pool: Pool | None = None, collection: Collection | None = None, reference: str | None = None, clip: bool = False
) -> Sheet:
    """The answers of all judges to the pairs of a pool, or to all pairs of a collection that anybody judged.

    ``reference`` is ``people`` (an adjudication, else the majority) or ``qrels``; by default people, and for a
    collection in which no person has judged, the qrels. With ``clip`` grades outside the scale are taken as its nearest
    end; without, they are left out and counted.
    """
    if pool is not None:
        return sheet_of_pool(pool, reference=reference, clip=clip)
    if collection is None:
        raise ValueError("Agreement is that of a pool or of a collection.")
    return sheet_of_collection(collection, reference=reference, clip=clip)


def agreement(
    *, pool: Pool | None = None, collection: Collection | None = None, reference: str | None = None, clip: bool = False
) -> Agreement:
    """The agreement of the reference with each LLM that judged pairs; arguments as in ``sheet_of``.

    Labels given after seeing an LLM's (``assisted``) are left out here, on both comparisons.
    """
    sheet = sheet_of(pool=pool, collection=collection, reference=reference, clip=clip)
    return agreement_of(sheet)


def agreement_of(sheet: Sheet) -> Agreement:
    return Agreement(
        sheet=sheet,
        found=found_in(sheet, sheet.pool) if sheet.pool and sheet.reference.is_people else None,
        llms=[compare(sheet, answers) for answers in sheet.llms if answers.judge.pk != sheet.reference.judge],
        people=human_ceiling(sheet),
        annotators=sum(not np.isnan(answers.grades).all() for answers in sheet.people),
        assisted=sheet.assisted,
    )


def between(sheet: Sheet, first: str, second: str) -> LlmAgreement:
    """Any two judges of a sheet by name, or by the start of an LLM's fingerprint; ``people`` and ``qrels`` are two."""
    if second in {PEOPLE, QRELS}:
        raise UserError(f"{second} is the side to compare with, so it comes first: --between {second} {first}")
    held = sheet if first == sheet.reference.name else _held_against(sheet, first)
    return compare(held, _answers(sheet, second))


def _held_against(sheet: Sheet, name: str) -> Sheet:
    if name in {PEOPLE, QRELS}:
        return sheet_of(pool=sheet.pool, collection=sheet.collection, reference=name, clip=sheet.clip)
    return sheet.held_against(_answers(sheet, name))


def _answers(sheet: Sheet, name: str) -> Answers:
    everybody = [*sheet.llms, *sheet.people]
    found = [
        answers
        for answers in everybody
        if name in {answers.judge.name, answers.judge.label}
        or (len(name) >= 6 and answers.judge.fingerprint.startswith(name))
    ]
    if len(found) == 1:
        return found[0]
    labels = ", ".join(sorted(answers.judge.label for answers in found or everybody)) or "none yet"
    if found:
        raise UserError(f"Several judges are called {name!r}: {labels}. Name one by its fingerprint.")
    raise UserError(f"No judge {name!r} has judged these pairs. There are: {labels}; people and qrels besides.")
