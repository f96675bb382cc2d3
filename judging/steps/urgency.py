"""Which pairs of a pool an LLM judges first."""

from __future__ import annotations

from django.db.models import Exists, FloatField, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from judging.engines.llm import distribution
from judging.errors import UserError
from judging.models import First, Judge, LeaseState, Pair, Pool, PrefillTask
from judging.steps.agree import judgments_of

_AT_A_TIME = 500


def arrange(*, pool: Pool, judge: Judge, first: str = First.QUERIES, uncertain_judge: Judge | None = None) -> None:
    """Set the order of what the judge has yet to judge of a pool; every worker follows it from its next batch on.

    Raises: UserError for an order that does not exist, and for uncertainty that nobody has told.
    """
    tasks = PrefillTask.objects.filter(judge=judge, pair__pool=pool).exclude(state=LeaseState.DONE)
    if first == First.QUERIES:
        tasks.exclude(urgency=0).update(urgency=0)
    elif first == First.JUDGED:
        _by_people(pool, tasks)
    elif first == First.RANK:
        rank = Pair.objects.filter(pk=OuterRef("pair")).values("best_rank")
        tasks.update(urgency=Coalesce(Subquery(rank), 0, output_field=FloatField()) * Value(-1.0))
    elif first == First.UNCERTAIN:
        _by_uncertainty(pool, tasks, who_is_uncertain(pool=pool, judge=judge, named=uncertain_judge))
    else:
        raise UserError(f"--first: expected one of {', '.join(First.values)}, found {first!r}.")


def _by_people(pool: Pool, tasks: QuerySet[PrefillTask]) -> None:
    said = judgments_of(pool).by_people().graded()
    judged = Exists(said.filter(query=OuterRef("pair__query"), document=OuterRef("pair__document")))
    tasks.filter(judged).update(urgency=1)
    tasks.filter(~judged).update(urgency=0)


def _by_uncertainty(pool: Pool, tasks: QuerySet[PrefillTask], uncertain: Judge) -> None:
    """By entropy in bits; pairs of which the judge gave no probabilities count as the mean of the others."""
    entropies = _entropies(pool, uncertain)
    typical = sum(entropies.values()) / len(entropies)
    rows = list(tasks.select_related("pair"))
    for row in rows:
        row.urgency = entropies.get((row.pair.query_id, row.pair.document_id), typical)
    PrefillTask.objects.bulk_update(rows, ["urgency"], batch_size=_AT_A_TIME)


def _entropies(pool: Pool, judge: Judge) -> dict[tuple[int, int], float]:
    said = judgments_of(pool).filter(judge=judge, probabilities__isnull=False)
    entropies = {}
    for query, document, stored in said.values_list("query", "document", "probabilities"):
        bits = distribution.entropy({int(grade): value for grade, value in (stored or {}).items()})
        if bits is not None:
            entropies[query, document] = bits
    return entropies


def llms_with_probabilities(pool: Pool) -> list[Judge]:
    """The LLMs that told how sure they are of pairs of the pool."""
    told = judgments_of(pool).filter(probabilities__isnull=False).values("judge")
    return list(Judge.objects.filter(kind=Judge.Kind.LLM, pk__in=told))


def who_is_uncertain(*, pool: Pool, judge: Judge | None, named: Judge | None) -> Judge:
    """The LLM whose uncertainty sets the order: the one that is named, else the only other one that told any.

    Raises: UserError where that is nobody, or several.
    """
    judges = llms_with_probabilities(pool)
    if named is not None:
        if named in judges:
            return named
        raise UserError(f"{named.label} gave no probabilities for pairs of {pool.slug}.{_others(judges)}")
    others = [one for one in judges if one != judge]
    if len(others) == 1:
        return others[0]
    if not others:
        raise UserError(
            f"No other LLM gave probabilities for pairs of {pool.slug}, so nothing tells which are uncertain: choose "
            "another order, or have another LLM judge the pool first."
        )
    raise UserError(f"Several LLMs gave probabilities for pairs of {pool.slug}: name one of them.{_others(others)}")


def _others(judges: list[Judge]) -> str:
    return f" These did: {', '.join(one.label for one in judges)}." if judges else ""
