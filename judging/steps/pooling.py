"""pool the holes: choose queries, walk their rankings, queue the documents without an original judgment."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Exists, OuterRef

from judging.errors import UserError
from judging.models import Assignment, Collection, Document, Hit, Judgment, Pair, Pool, Query, Run, TrainingPair
from judging.models.bulk import insert_rows, refresh_statistics
from judging.steps import lookup
from judging.steps.consensus import Key
from judging.steps.drawing import ByUncertainty, Chance, draw_pairs
from judging.steps.slots import fill_slots


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """``queries`` None takes all. See ``Pool.Mode`` for how ``depth`` is counted.

    ``probe_share`` of their own answers each person is asked again later. ``training`` pairs, not stored yet, come
    before all others. With ``uncertain`` not all holes are queued, but those drawn by an LLM's uncertainty.
    """

    depth: int = 5
    mode: str = Pool.Mode.FIRST_UNJUDGED
    queries: int | None = None
    seed: int = 0
    people: int = 1
    guidelines: str = ""
    show_known: bool = True
    reveal: bool = False
    probe_share: float = 0.0
    training: Sequence[TrainingPair] = ()
    uncertain: ByUncertainty | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    document: int
    rank: int
    digest: bytes
    is_empty: bool
    in_corpus: bool
    is_self: bool


@dataclass
class _Queue:
    """The holes of one query: document → (best rank, the runs that found it); what was passed over, and why.

    ``trained`` are the texts that the query's training pairs show.
    """

    holes: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    texts: dict[bytes, int] = field(default_factory=dict)
    passed: dict[int, str] = field(default_factory=dict)
    trained: set[bytes] = field(default_factory=set)


@transaction.atomic
def open_pool(*, collection: Collection, runs: Sequence[Run], name: str | None = None, options: PoolOptions) -> Pool:
    """Queue the holes of ``runs`` for people to judge; all or nothing.

    Not queued are documents that duplicate a judged or queued one, empty ones, self-matches, ids without text and what
    the training shows; the pool says how many of each.

    Raises: UserError when nothing is left to judge, or the name is taken.
    """
    runs = list(dict.fromkeys(runs))
    _check(runs, options)
    slug = lookup.short_name(name or f"{collection.slug} holes", longest=100)
    if Pool.objects.filter(slug=slug).exists():
        raise UserError(f"A pool {slug!r} is there already: give this one another --name.")
    available, sampled = _sample(collection, runs, options)
    queues = _walk(collection, runs, sampled, options)
    left_out = Counter(reason for queue in queues.values() for reason in queue.passed.values())
    if not any(queue.holes for queue in queues.values()):
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise UserError(
            f"Nothing to judge: no hole within depth {options.depth} of {', '.join(run.name for run in runs)} "
            f"over {len(sampled)} queries" + (f" (passed over: {reasons})." if reasons else ".")
        )
    chances = _draw(collection, queues, left_out, options)
    pool = Pool.objects.create(
        slug=slug,
        name=name or f"Holes of {collection.name}",
        collection=collection,
        mode=options.mode,
        depth=options.depth,
        people=options.people,
        seed=options.seed,
        queries_sampled=len(sampled),
        queries_available=available,
        left_out=dict(left_out),
        guidelines=options.guidelines,
        show_known=options.show_known,
        reveal=options.reveal,
        probe_share=options.probe_share,
    )
    pool.runs.set(runs)
    _keep_pairs(pool, sampled, queues, chances, inclusion=len(sampled) / available)
    for pair in options.training:
        pair.pool = pool
    TrainingPair.objects.bulk_create(options.training)
    fill_slots(collection)
    refresh_statistics(Document, Query, Pair, Assignment, Judgment)
    return pool


def _check(runs: Sequence[Run], options: PoolOptions) -> None:
    if not runs:
        raise UserError("A pool needs at least one run: --run NAME.")
    for value, what in ((options.depth, "--depth"), (options.people, "--people"), (options.queries, "--queries")):
        if value is not None and value < 1:
            raise UserError(f"{what}: expected at least 1, found {value}.")
    if not 0 <= options.probe_share <= 1:
        raise UserError(f"--probe-share: expected a share from 0 to 1, found {options.probe_share:g}.")
    if options.reveal and options.probe_share:
        raise UserError(
            "A pool either reveals LLM labels or asks pairs again: whoever was shown one would be asked again with it "
            "in mind. Leave out --reveal or --probe-share."
        )


def _sample(collection: Collection, runs: Sequence[Run], options: PoolOptions) -> tuple[int, list[int]]:
    """How many queries there are to choose from, and the chosen ones in random order (the seed's).

    Random order, so that a pool which is judged half is still a random sample of queries.
    """
    ranked = Exists(Hit.objects.filter(run__in=runs, query=OuterRef("pk")))
    queries = dict(Query.objects.filter(ranked, collection=collection, in_corpus=True).values_list("qid", "pk"))
    wanted = len(queries) if options.queries is None else min(options.queries, len(queries))
    chosen = random.Random(options.seed).sample(sorted(queries), wanted)  # noqa: S311
    return len(queries), [queries[qid] for qid in chosen]


def _walk(
    collection: Collection, runs: Sequence[Run], queries: Sequence[int], options: PoolOptions
) -> dict[int, _Queue]:
    judged: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
    original = Judgment.objects.original(collection).values_list("query", "document", "document__digest")
    for query, document, digest in original.iterator(chunk_size=10_000):
        judged[query][document] = bytes(digest)
    queues = {query: _Queue() for query in queries}
    for pair in options.training:
        if pair.query_id in queues:
            queues[pair.query_id].trained.add(bytes(pair.document.digest))
    for run in runs:
        for query, ranking in _rankings(run, queues.keys()):
            _walk_one(run, ranking, judged[query], queues[query], options)
    return queues


def _rankings(run: Run, queries: Iterable[int]) -> Iterable[tuple[int, list[_Candidate]]]:
    for chunk in lookup.chunks(queries, 200):
        ranked: defaultdict[int, list[_Candidate]] = defaultdict(list)
        hits = Hit.objects.filter(run=run, query__in=chunk).order_by("query", "rank")
        for query, qid, document, docid, rank, digest, is_empty, in_corpus in hits.values_list(
            "query", "query__qid", "document", "document__docid", "rank",
            "document__digest", "document__is_empty", "document__in_corpus",
        ):  # fmt: skip
            is_self = run.collection.exclude_self and qid == docid
            ranked[query].append(_Candidate(document, rank, bytes(digest), is_empty, in_corpus, is_self))
        yield from ranked.items()


def _walk_one(
    run: Run, ranking: Iterable[_Candidate], judged: dict[int, bytes], queue: _Queue, options: PoolOptions
) -> None:
    """Add the holes of one ranking to the query's queue.

    What is passed over does not count towards the depth of ``first-unjudged``: it would leave fewer than k to judge.
    """
    judged_texts = set(judged.values())
    found = 0
    for hit in ranking:
        if options.mode == Pool.Mode.HOLES and hit.rank > options.depth:
            return
        if hit.document in judged:
            continue
        if reason := _reason_to_pass(hit, judged_texts, queue):
            queue.passed[hit.document] = reason
            continue
        best, finders = queue.holes.get(hit.document, (hit.rank, []))
        queue.holes[hit.document] = (min(best, hit.rank), [*finders, run.pk])
        queue.texts[hit.digest] = hit.document
        found += 1
        if options.mode == Pool.Mode.FIRST_UNJUDGED and found == options.depth:
            return


def _reason_to_pass(hit: _Candidate, judged_texts: set[bytes], queue: _Queue) -> str | None:
    if not hit.in_corpus:
        return "without text"
    if hit.is_empty:
        return "empty"
    if hit.is_self:
        return "self-match"
    if hit.digest in queue.trained:
        return "shown in the training"
    if hit.digest in judged_texts:
        return "duplicate of a judged document"
    if queue.texts.get(hit.digest, hit.document) != hit.document:
        return "duplicate of a queued document"
    return None


def _draw(
    collection: Collection, queues: dict[int, _Queue], left_out: Counter[str], options: PoolOptions
) -> dict[Key, Chance]:
    """Leave in the queues what was drawn by uncertainty; empty where all holes are queued."""
    if options.uncertain is None:
        return {}
    candidates = [(query, document) for query, queue in queues.items() for document in queue.holes]
    chances = draw_pairs(candidates, options.uncertain, scale=collection.scale, seed=options.seed)
    for query, queue in queues.items():
        queue.holes = {document: hole for document, hole in queue.holes.items() if (query, document) in chances}
    left_out["not drawn"] = len(candidates) - len(chances)
    return chances


def _keep_pairs(
    pool: Pool,
    queries: Sequence[int],
    queues: dict[int, _Queue],
    chances: Mapping[Key, Chance],
    *,
    inclusion: float,
) -> None:
    """Each query is in the sample with the same probability, so each of its pairs is, unless drawn one by one."""
    certain = Chance("", 1.0)
    insert_rows(
        Pair,
        ("pool_id", "query_id", "document_id", "query_position", "best_rank", "stratum", "inclusion_probability"),
        (
            (pool.pk, query, document, position, rank, chance.stratum, inclusion * chance.probability)
            for position, query in enumerate(queries)
            for document, (rank, _) in queues[query].holes.items()
            for chance in (chances.get((query, document), certain),)
        ),
    )
    pairs = {(query, document): pk for pk, query, document in pool.pairs.values_list("pk", "query", "document")}
    insert_rows(
        Pair.runs.through,
        ("pair_id", "run_id"),
        (
            (pairs[query, document], run)
            for query, queue in queues.items()
            for document, (_, finders) in queue.holes.items()
            for run in finders
        ),
    )
    insert_rows(
        Assignment,
        ("pair_id", "slot"),
        ((pair, slot) for pair in pairs.values() for slot in range(1, pool.people + 1)),
    )
