"""the LLM pre-fills: an LLM judges the pairs of a pool, by any number of workers together.

Each pair is a task that a worker claims for a time. What was judged stays judged, whatever happens next; the task of a
killed worker comes free when its lease runs out.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import F

from judging.engines.llm import open_llm
from judging.engines.llm.base import Answer, LanguageModel, Question
from judging.formats import records
from judging.models import (
    Document,
    Judge,
    Judgment,
    LeaseState,
    Outcome,
    Pair,
    Pool,
    PrefillTask,
    Query,
    fingerprint_of,
)
from judging.models.bulk import insert_rows
from judging.models.lease import LeaseQuerySet
from judging.steps.judgments import Said, say
from judging.steps.known import known_documents
from judging.steps.progress import Track, quiet

# Long enough for a batch on a slow machine, short enough that a killed worker's pairs do not wait for long.
LEASE = timedelta(minutes=10)

# Pairs claimed at a time: enough to fill a batch, little enough that a kill loses little.
BATCH = 16

# After so many tries a pair is kept as failed, with the reason.
ATTEMPTS = 2


@dataclass
class PrefillReport:
    judge: Judge
    outcomes: Counter[str] = field(default_factory=Counter)
    already: int = 0
    held_by_others: int = 0


@dataclass(frozen=True, slots=True)
class PrefillOptions:
    model: str
    prompt: str = "pointwise"
    revision: str | None = None
    dtype: str = "auto"
    limit: int | None = None
    retry_failed: bool = False


def prefill(*, pool: Pool, options: PrefillOptions, track: Track = quiet) -> PrefillReport:
    """Have an LLM judge the pairs of a pool that it has not judged yet, in the order in which people get them."""
    llm = open_llm(
        options.model,
        prompt=options.prompt,
        scale=pool.collection.scale,
        revision=options.revision,
        dtype=options.dtype,
    )
    judge = llm_judge(llm)
    queue(pool=pool, judge=judge, retry_failed=options.retry_failed)
    tasks = PrefillTask.objects.filter(judge=judge, pair__pool=pool)
    report = PrefillReport(judge, already=tasks.filter(state=LeaseState.DONE).count())
    waiting = tasks.available().count()
    total = waiting if options.limit is None else min(waiting, options.limit)
    for task, answer in track(_work(llm, tasks, options.limit), total, f"pairs judged by {judge.name}"):
        _keep(judge, task, answer)
        report.outcomes[answer.outcome] += 1
    report.held_by_others = tasks.filter(state=LeaseState.LEASED).count()
    return report


def llm_judge(llm: LanguageModel) -> Judge:
    """The judge that a model with its prompt and scale is; another determinant makes another judge."""
    identity = llm.identity()
    return Judge.objects.get_or_create(
        kind=Judge.Kind.LLM, name=llm.name, fingerprint=fingerprint_of(identity), defaults={"configuration": identity}
    )[0]


@transaction.atomic
def queue(*, pool: Pool, judge: Judge, retry_failed: bool = False) -> int:
    """Make a task of each pair that has none for this judge; how many. Pairs that it judged elsewhere are done."""
    judged = set(Judgment.objects.of(pool.collection).filter(judge=judge).values_list("query", "document"))
    known = set(PrefillTask.objects.filter(judge=judge, pair__pool=pool).values_list("pair", flat=True))
    pairs = pool.pairs.filter(document__in_corpus=True).values_list("pk", "query", "document")
    count = insert_rows(
        PrefillTask,
        ("judge_id", "pair_id", "state"),
        (
            (judge.pk, pk, (LeaseState.DONE if (query, document) in judged else LeaseState.FREE).value)
            for pk, query, document in pairs
            if pk not in known
        ),
    )
    if retry_failed:
        failed = Judgment.objects.filter(judge=judge, outcome=Outcome.FAILED).values_list("query", "document")
        for query, document in failed:
            PrefillTask.objects.filter(judge=judge, pair__pool=pool, pair__query=query, pair__document=document).update(
                state=LeaseState.FREE, leased_until=None, attempts=0
            )
    return count


def _work(
    llm: LanguageModel, tasks: LeaseQuerySet[PrefillTask], limit: int | None
) -> Iterator[tuple[PrefillTask, Answer]]:
    """Claim, ask, and yield one by one until nothing can be claimed or ``limit`` pairs are done."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    ordered = tasks.order_by("pair__query_position", "pair__best_rank", "pair")
    done = 0
    while limit is None or done < limit:
        size = BATCH if limit is None else min(BATCH, limit - done)
        claimed = ordered.claim(lease=LEASE, limit=size, worker=worker, attempts=F("attempts") + 1)
        if not claimed:
            return
        batch = list(
            PrefillTask.objects.filter(pk__in=claimed)
            .select_related("pair__query", "pair__document")
            .order_by("pair__query_position", "pair__best_rank", "pair")
        )
        try:
            answers = llm.judge(questions([task.pair for task in batch]))
        except BaseException:
            # Ctrl-C included: what was claimed and not answered is free for the next worker at once.
            PrefillTask.objects.filter(pk__in=claimed, state=LeaseState.LEASED).update(
                state=LeaseState.FREE, leased_until=None
            )
            raise
        yield from zip(batch, answers, strict=True)
        done += len(batch)


def questions(pairs: Sequence[Pair]) -> list[Question]:
    """The pairs as an LLM is asked them, each with the known relevant document of its query where there is one."""
    known = known_documents([pair.query for pair in pairs])
    return [
        Question(
            records.Query(pair.query.qid, pair.query.text),
            _document(pair.document),
            _document(known[pair.query_id][0]) if known.get(pair.query_id) else None,
        )
        for pair in pairs
    ]


def _document(row: Document) -> records.Document:
    return records.Document(row.docid, row.title, row.text)


@transaction.atomic
def _keep(judge: Judge, task: PrefillTask, answer: Answer) -> None:
    """The judgment and the end of its task, together. A failure is tried once more before it is kept."""
    if answer.outcome == Outcome.FAILED and task.attempts < ATTEMPTS:
        PrefillTask.objects.filter(pk=task.pk).update(state=LeaseState.FREE, leased_until=None)
        return
    say(
        judge=judge,
        query_id=task.pair.query_id,
        document_id=task.pair.document_id,
        said=Said(
            outcome=answer.outcome,
            grade=answer.grade,
            probabilities=_keys_as_text(answer.probabilities),
            raw=answer.raw,
            seconds=answer.seconds,
            truncated=answer.truncated,
        ),
    )
    PrefillTask.objects.filter(pk=task.pk).update(state=LeaseState.DONE, leased_until=None)


def _keys_as_text(probabilities: Mapping[int, float] | None) -> dict[str, float] | None:
    """JSON keys are text."""
    return None if probabilities is None else {str(grade): value for grade, value in probabilities.items()}
