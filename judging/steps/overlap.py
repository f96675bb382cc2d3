"""How many people judge each pair of a pool: changed while people work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice

from django.db import transaction
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Assignment, LeaseState, Pool
from judging.models.bulk import insert_rows
from judging.steps.lookup import chunks
from judging.steps.slots import fill_slots

PEOPLE_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class SlotsChanged:
    """``filled``: new slots that were given to people who had judged the pair elsewhere."""

    made: int = 0
    removed: int = 0
    filled: int = 0


@transaction.atomic
def set_people(*, pool: Pool, people: int) -> SlotsChanged:
    """Have so many people judge each pair.

    More make slots; fewer remove free ones. What is answered or in somebody's hands stays, also beyond the number.
    """
    if not 1 <= people <= PEOPLE_AT_MOST:
        raise UserError(
            _("People per pair: expected 1 to %(most)s, found %(found)s.") % {"most": PEOPLE_AT_MOST, "found": people}
        )
    pool = Pool.objects.select_for_update().get(pk=pool.pk)
    slots: defaultdict[int, list[_Slot]] = defaultdict(list)
    # Pairs of the pool, not their slots, so that one without any gets its slots too.
    rows = pool.pairs.order_by("pk", "assignments__slot")
    for pair, pk, number, state in rows.values_list("pk", "assignments", "assignments__slot", "assignments__state"):
        if pk is None:
            slots[pair] = []
        else:
            slots[pair].append(_Slot(pk, number, state))
    pool.people = people
    pool.save(update_fields=["people"])
    made = insert_rows(Assignment, ("pair_id", "slot"), _missing(slots, people))
    removed = 0
    for chunk in chunks(_free_beyond(slots.values(), people)):
        removed += Assignment.objects.filter(pk__in=chunk, state=LeaseState.FREE).delete()[0]
    return SlotsChanged(made, removed, fill_slots(pool.collection) if made else 0)


@dataclass(frozen=True, slots=True)
class _Slot:
    pk: int
    number: int
    state: str


def _missing(slots: dict[int, list[_Slot]], people: int) -> Iterator[tuple[int, int]]:
    """(pair, slot number) of the slots to be made, in numbers that the pair has not used."""
    for pair, there in slots.items():
        used = {slot.number for slot in there}
        unused = (number for number in count(1) if number not in used)
        yield from ((pair, number) for number in islice(unused, max(0, people - len(there))))


def _free_beyond(slots: Iterable[list[_Slot]], people: int) -> Iterator[int]:
    for there in slots:
        free = [slot.pk for slot in there if slot.state == LeaseState.FREE]
        beyond = len(there) - people
        yield from free[len(free) - min(beyond, len(free)) :] if beyond > 0 else ()
