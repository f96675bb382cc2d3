"""the LLM pre-fills: an LLM judges the pairs of a pool, by any number of workers together.

Each pair is a task that a worker claims for a time and renews while it lives. What was judged stays judged, whatever
happens next; the tasks of a killed worker come free when their lease runs out.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from judging.engines.llm import Prompt, Server, Usage, usage_of
from judging.engines.llm.base import Answer, LanguageModel, Question
from judging.errors import UserError
from judging.formats import records
from judging.models import (
    Document,
    First,
    Judge,
    LeaseState,
    Outcome,
    Pair,
    Pool,
    PrefillJob,
    PrefillTask,
    fingerprint_of,
)
from judging.models.lease import LeaseQuerySet, is_held
from judging.models.prefill import worker_lease
from judging.steps.examples import refuse_known_pairs
from judging.steps.heartbeat import beating
from judging.steps.known import known_documents
from judging.steps.prefill_options import LlmOptions, Order, PrefillOptions
from judging.steps.prefill_tasks import claim, keep, queue, renew, tasks_of
from judging.steps.progress import Track, quiet
from judging.steps.urgency import arrange, who_is_uncertain

__all__ = [
    "LlmOptions",
    "Order",
    "PrefillOptions",
    "PrefillReport",
    "judge_pool",
    "llm_judge",
    "prefill",
    "questions",
    "queue",
]

# Pairs claimed at a time, at most: enough to fill a batch.
BATCH = 16

# Fewer are claimed while a batch takes longer than this, for a kill loses the batch in hand.
BATCH_SECONDS = 20.0

# So many failures in a row are no accident of single pairs: what is wrong would only be paid for again and again.
FAILURES_IN_A_ROW = 20


@dataclass
class PrefillReport:
    """``usage`` counts the tokens of what was kept; ``already`` was judged before, by whatever worker; ``failure`` is
    the reason of the latest pair that failed.
    """

    judge: Judge
    outcomes: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    already: int = 0
    held_by_others: int = 0
    failure: str = ""


def prefill(*, pool: Pool, options: PrefillOptions, track: Track = quiet) -> PrefillReport:
    """Have an LLM judge the pairs of a pool that it has not judged yet.

    Raises: UserError for a model or a prompt that cannot be used. What was judged before stays.
    """
    return judge_pool(
        llm=options.llm.start(pool.collection.scale),
        pool=pool,
        limit=options.limit,
        retry_failed=options.retry_failed,
        order=options.order,
        track=track,
    )


def judge_pool(
    *,
    llm: LanguageModel,
    pool: Pool,
    limit: int | None = None,
    retry_failed: bool = False,
    order: Order | None = None,
    job: PrefillJob | None = None,
    track: Track = quiet,
) -> PrefillReport:
    """As ``prefill``, with the LLM at hand. ``limit`` stops after so many pairs; a ``job`` has a limit of its own."""
    if limit is not None and limit < 1:
        raise UserError(f"--limit: expected at least 1, found {limit}.")
    if isinstance(prompt := getattr(llm, "prompt", None), Prompt):
        refuse_known_pairs(prompt=prompt, pool=pool)
    order = order or Order()
    if order.first == First.UNCERTAIN:
        # Before a judge is made that then has nothing to do.
        who_is_uncertain(pool=pool, judge=known_judge(llm), named=order.uncertain_judge)
    judge = llm_judge(llm)
    queue(pool=pool, judge=judge, retry_failed=retry_failed)
    arrange(pool=pool, judge=judge, first=order.first, uncertain_judge=order.uncertain_judge)
    tasks = tasks_of(pool, judge)
    report = PrefillReport(judge, already=tasks.filter(state=LeaseState.DONE).count())
    waiting = tasks.available().count()
    total = waiting if limit is None else min(waiting, limit)
    with closing(_work(llm, judge, tasks, limit, job)) as answers:
        for answer in track(answers, total, f"pairs judged by {judge.name}"):
            report.outcomes[answer.outcome] += 1
            report.usage += usage_of([answer])
            if answer.outcome == Outcome.FAILED:
                report.failure = answer.raw
    report.held_by_others = tasks.filter(is_held()).count()
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


def known_judge(llm: LanguageModel) -> Judge | None:
    """The judge that ``llm_judge`` would find; None where it would make one."""
    made_of = fingerprint_of(llm.identity())
    return Judge.objects.filter(kind=Judge.Kind.LLM, name=llm.name, fingerprint=made_of).first()


def _prompt_text(llm: LanguageModel) -> str:
    """What the model is asked, to be read; the digest in its identity is what tells prompts apart."""
    prompt = getattr(llm, "prompt", None)
    return "\n\n".join(f"[{role}]\n{text}" for role, text in prompt.turns) if isinstance(prompt, Prompt) else ""


def _work(
    llm: LanguageModel,
    judge: Judge,
    tasks: LeaseQuerySet[PrefillTask],
    limit: int | None,
    job: PrefillJob | None,
) -> Generator[Answer, None, None]:
    """Claim, ask and keep, until nothing can be claimed or ``limit`` pairs are kept; each answer.

    However it ends, Ctrl-C included, what was claimed and not answered is free for the next worker at once.
    """
    worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    kept, size, failures, most = 0, 1, 0, _at_a_time(llm)
    with beating(lambda: renew(worker), every=worker_lease().total_seconds() / 4):
        while limit is None or kept < limit:
            wanted = size if limit is None else min(size, limit - kept)
            claimed = claim(tasks, wanted=wanted, worker=worker, job=job)
            if not claimed:
                return
            mine = PrefillTask.objects.filter(pk__in=claimed, worker=worker, state=LeaseState.LEASED)
            started = time.monotonic()
            try:
                batch = list(mine.select_related("pair__query", "pair__document").order_by(*PrefillTask.ORDER))
                answers = llm.judge(questions([task.pair for task in batch]))
                for task, answer in zip(batch, answers, strict=True):
                    failures = failures + 1 if _is_trouble(answer) else 0
                    if keep(judge=judge, mine=mine.filter(pk=task.pk), task=task, answer=answer):
                        kept += 1
                        yield answer
            finally:
                mine.update(state=LeaseState.FREE, leased_until=None)
            if failures >= FAILURES_IN_A_ROW:
                raise UserError(_gave_up(failures, answer))
            size = min(most, 2 * size) if time.monotonic() - started < BATCH_SECONDS else max(1, size // 2)


def _at_a_time(llm: LanguageModel) -> int:
    """The most to claim: for a server twice what it is asked at a time, so that it never waits for us."""
    server = getattr(llm, "server", None)
    return max(BATCH, 2 * server.concurrency) if isinstance(server, Server) else BATCH


def _is_trouble(answer: Answer) -> bool:
    """Whether asking failed. A question that cannot be asked at all, which took no time, is the pair's own trouble."""
    return answer.outcome == Outcome.FAILED and answer.seconds is not None


def _gave_up(failures: int, latest: Answer) -> str:
    return (
        f"{failures} answers in a row failed, the latest with: {latest.raw.rstrip('.') or 'no reason given'}. What was "
        "judged is kept. Mend what is wrong, then have the failed pairs tried again."
    )


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
