"""the LLM pre-fills: an LLM judges the pairs of a pool, by any number of workers together.

Each pair is a task that a worker claims for a time. What was judged stays judged, whatever happens next; the task of a
killed worker comes free when its lease runs out.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from judging.engines.llm import Prompt, open_llm
from judging.engines.llm.base import Answer, LanguageModel, Question
from judging.errors import UserError
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
    fingerprint_of,
)
from judging.models.bulk import insert_rows
from judging.models.lease import LeaseQuerySet
from judging.steps.judgments import Said, say
from judging.steps.known import known_documents
from judging.steps.progress import Track, quiet

# Long enough for a batch on a slow machine, short enough that a killed worker's pairs do not wait for long.
LEASE = timedelta(minutes=10)

# Pairs claimed at a time, at most: enough to fill a batch.
BATCH = 16

# Fewer are claimed while a batch takes longer than this, for a kill loses the batch in hand.
BATCH_SECONDS = 20.0

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
    """Have an LLM judge the pairs of a pool that it has not judged yet, in the order in which people get them.

    Raises: UserError for a model or a prompt that cannot be used. What was judged before stays.
    """
    llm = open_llm(
        options.model,
        prompt=options.prompt,
        scale=pool.collection.scale,
        revision=options.revision,
        dtype=options.dtype,
    )
    return judge_pool(llm=llm, pool=pool, limit=options.limit, retry_failed=options.retry_failed, track=track)


def judge_pool(
    *,
    llm: LanguageModel,
    pool: Pool,
    limit: int | None = None,
    retry_failed: bool = False,
    track: Track = quiet,
) -> PrefillReport:
    """As ``prefill``, with the LLM at hand. ``limit`` stops after so many pairs."""
    if limit is not None and limit < 1:
        raise UserError(f"--limit: expected at least 1, found {limit}.")
    judge = llm_judge(llm)
    queue(pool=pool, judge=judge, retry_failed=retry_failed)
    tasks = PrefillTask.objects.filter(judge=judge, pair__pool=pool)
    report = PrefillReport(judge, already=tasks.filter(state=LeaseState.DONE).count())
    waiting = tasks.available().count()
    total = waiting if limit is None else min(waiting, limit)
    with closing(_work(llm, judge, tasks, limit)) as outcomes:
        for outcome in track(outcomes, total, f"pairs judged by {judge.name}"):
            report.outcomes[outcome] += 1
    report.held_by_others = tasks.filter(state=LeaseState.LEASED, leased_until__gte=timezone.now()).count()
    return report


def llm_judge(llm: LanguageModel) -> Judge:
    """The judge that a model with its prompt and scale is; another determinant makes another judge."""
    identity = llm.identity()
    return Judge.objects.get_or_create(
        kind=Judge.Kind.LLM,
        name=llm.name,
        fingerprint=fingerprint_of(identity),
        defaults={"configuration": identity, "prompt": _prompt_text(llm)},
    )[0]


def _prompt_text(llm: LanguageModel) -> str:
    """What the model is asked, to be read; the digest in its identity is what tells prompts apart."""
    prompt = getattr(llm, "prompt", None)
    return "\n\n".join(f"[{role}]\n{text}" for role, text in prompt.turns) if isinstance(prompt, Prompt) else ""


@transaction.atomic
def queue(*, pool: Pool, judge: Judge, retry_failed: bool = False) -> int:
    """Make a task of each pair that has none for this judge; how many. Pairs that it judged elsewhere are done.

    ``retry_failed`` frees the pairs that were kept as failed.
    """
    # Workers that start together make the tasks one after another, not twice.
    Judge.objects.select_for_update().get(pk=judge.pk)
    tasks = PrefillTask.objects.filter(judge=judge, pair__pool=pool)
    judged = set(Judgment.objects.of(pool.collection).filter(judge=judge).values_list("query", "document"))
    known = set(tasks.values_list("pair", flat=True))
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
    said = Judgment.objects.filter(judge=judge, query=OuterRef("pair__query"), document=OuterRef("pair__document"))
    failed = said.filter(outcome=Outcome.FAILED)
    tasks.filter(Exists(said) & ~Exists(failed), state=LeaseState.FREE).update(state=LeaseState.DONE)
    if retry_failed:
        tasks.filter(Exists(failed), state=LeaseState.DONE).update(state=LeaseState.FREE, attempts=0)
    return count


def _work(
    llm: LanguageModel, judge: Judge, tasks: LeaseQuerySet[PrefillTask], limit: int | None
) -> Generator[str, None, None]:
    """Claim, ask and keep, until nothing can be claimed or ``limit`` pairs are kept; the outcome of each.

    However it ends, Ctrl-C included, what was claimed and not answered is free for the next worker at once.
    """
    worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    kept, size = 0, 1
    while limit is None or kept < limit:
        wanted = size if limit is None else min(size, limit - kept)
        claimed = tasks.order_by(*_ORDER).claim(lease=LEASE, limit=wanted, worker=worker)
        if not claimed:
            return
        mine = PrefillTask.objects.filter(pk__in=claimed, worker=worker, state=LeaseState.LEASED)
        started = time.monotonic()
        try:
            batch = list(mine.select_related("pair__query", "pair__document").order_by(*_ORDER))
            answers = llm.judge(questions([task.pair for task in batch]))
            for task, answer in zip(batch, answers, strict=True):
                if _keep(judge, mine.filter(pk=task.pk), task, answer):
                    kept += 1
                    yield answer.outcome
        finally:
            mine.update(state=LeaseState.FREE, leased_until=None)
        size = min(BATCH, 2 * size) if time.monotonic() - started < BATCH_SECONDS else max(1, size // 2)


_ORDER = ("pair__query_position", "pair__best_rank", "pair")


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
def _keep(judge: Judge, mine: QuerySet[PrefillTask], task: PrefillTask, answer: Answer) -> bool:
    """Whether the answer was kept: the judgment and the end of its task, together.

    A failure is tried once more before it is kept. A task whose lease ran out meanwhile may be another worker's now; it
    will answer.
    """
    if answer.outcome == Outcome.FAILED and task.attempts + 1 < ATTEMPTS:
        mine.update(state=LeaseState.FREE, leased_until=None, attempts=F("attempts") + 1)
        return False
    if not mine.update(state=LeaseState.DONE, leased_until=None):
        return False
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
    return True


def _keys_as_text(probabilities: Mapping[int, float] | None) -> dict[str, float] | None:
    """JSON keys are text."""
    return None if probabilities is None else {str(grade): value for grade, value in probabilities.items()}
