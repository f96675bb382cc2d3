"""The LLM as a judge: shared beginnings read once, against ``generate`` pair by pair and against plain batches.

    python -m tests.benchmarks.bench_llm_prefix [MODEL] [--pairs 200] [--rounds 3]

200 pairs of TREC DL 2019, five judged documents of each of 40 queries, under a few-shot prompt of about 500 tokens.
MODEL is a GGUF file or a folder; the file that ``fixtures/record_llm.py`` puts together is the default. All three ways
read the same tokens with the same loaded model in the same number type:

ours      all pairs, from a judge that has read nothing yet, so that the examples' tokens are paid for too
generate  ``model.generate`` on one pair after the other, greedy, as notebooks do; a few pairs, extrapolated
batched   padded batches sorted by length, the next token's probabilities, nothing reused; some pairs, extrapolated

The ways take turns, and the best round of each counts: in seconds on the clock, and in seconds that the processor
worked for it. The latter change little where other programs run beside it; set OMP_NUM_THREADS=1 then, for threads that
wait for each other count as work. The limit is the time of the tokens that have to be computed once, at the rate of one
plain pass over 1,024 tokens.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from judging.engines.llm import Answer, Question, open_llm
from judging.engines.llm.forward import PaddedReader, TreeReader
from judging.engines.llm.parse import parse
from judging.engines.llm.reading import read_scores
from judging.engines.llm.tree import grow
from judging.engines.llm.window import fit
from judging.formats.beir import read_documents, read_qrels, read_queries
from judging.formats.scale import default_scale
from judging.measures.agreement import panel
from tests.conftest import DATA

MODEL = Path("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf")
PROMPT = Path(__file__).with_name("few_shot.txt")
SCALE = default_scale(3)
DOCUMENTS_A_QUERY = 5
SEED = 7
LONG = 1024


class Times(NamedTuple):
    """Seconds a pair."""

    clock: float
    processor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="?", default=MODEL)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--generated", type=int, default=8, help="pairs a round that generate is timed on")
    parser.add_argument("--batched", type=int, default=32, help="pairs a round that plain batches are timed on")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--batch-tokens", type=int, default=None)
    options = parser.parse_args()
    if not options.model.exists() or not (DATA / "dl19").is_dir():
        sys.exit(f"Skipped: expected the model {options.model} and the collection dl19 in {DATA} (set UNJUDGED_DATA).")
    measure(options)


def measure(options: argparse.Namespace) -> None:
    questions, grades = sample(options.pairs)
    more = {} if options.batch_tokens is None else {"batch_tokens": options.batch_tokens}
    judge: Any = open_llm(str(options.model), prompt=PROMPT, scale=SCALE, dtype=options.dtype, **more)
    loading = times_of(lambda: judge._model, 1).clock
    rows = [np.array(fit(question, judge._encode, judge._window).ids) for question in questions]
    unique = int(grow(rows, rows[0][:0]).tokens.size)
    answers: list[Answer] = []

    def ours() -> None:
        judge._opened = TreeReader(judge._model)
        answers[:] = judge.judge(questions)

    spread = spread_over(len(rows), options.generated)
    written: list[str] = []
    some = spread_over(len(rows), options.batched)
    batched: list[Answer] = []
    took: dict[str, list[Times]] = {"ours": [], "generate": [], "batched": [], "limit": []}
    plain(judge, rows[:1])  # memory and kernels are warm for all of them
    ways: list[tuple[str, Callable[[], None], float]] = [
        ("ours", ours, len(rows)),
        ("generate", lambda: assign(written, generate(judge, [rows[n] for n in spread])), len(spread)),
        ("batched", lambda: assign(batched, plain(judge, [rows[n] for n in some])), len(some)),
        ("limit", lambda: read_long(judge, rows), LONG * len(rows) / unique),
    ]
    for turn in range(options.rounds):
        for way, run, pairs in ways:
            took[way].append(times_of(run, pairs))
            clock, processor = took[way][-1]
            print(f"round {turn + 1}  {way:9} {clock:.3f} s a pair, {processor:.3f} of the processor", flush=True)
    best = {way: Times(*(min(column) for column in zip(*times, strict=True))) for way, times in took.items()}

    identity = judge.identity()
    tokens = sum(map(len, rows))
    print(f"\n{identity['model']}, {identity['dtype']} on {identity['device']}, loaded in {loading:.0f} s")
    print(
        f"{len(rows)} pairs of {len({question.query.id for question in questions})} queries: {tokens:,} tokens,", end=""
    )
    print(f" {unique:,} to be computed once ({tokens / unique:.1f} times fewer), {unique / len(rows):.0f} a pair")
    print(f"{'':11}{'on the clock':^38}{'of the processor':^38}")
    for way, times in best.items():
        columns = (f"{t:8.3f} s a pair {1 / t:6.2f}/s {t / o:6.2f}×" for t, o in zip(times, best["ours"], strict=True))
        print(f"  {way:9}", *columns)
    print(f"  generate and batched: extrapolated from {len(spread)} and {len(some)} pairs")
    same = sum(parse(text, SCALE).number == answers[n].grade for text, n in zip(written, spread, strict=True))
    print(f"same label as generate: {same} of {len(spread)}")
    same = sum(one.grade == answers[n].grade for one, n in zip(batched, some, strict=True))
    away = max(
        abs(one.probabilities[grade] - answers[n].probabilities[grade])  # type: ignore[index]
        for one, n in zip(batched, some, strict=True)
        for grade in SCALE.values
    )
    print(f"same label as batched: {same} of {len(some)}, probabilities at most {away:.4f} away")
    agreement(answers, grades)


def sample(size: int) -> tuple[list[Question], list[int]]:
    """Judged pairs drawn with a fixed seed, query by query, and the grades that people gave them."""
    draw = random.Random(SEED)
    judged: dict[str, list[tuple[str, int]]] = {}
    for qrel in read_qrels(next((DATA / "dl19" / "qrels").glob("*.tsv")), warn=print):
        judged.setdefault(qrel.query, []).append((qrel.document, qrel.grade))
    queries = sorted(query for query, pairs in judged.items() if len(pairs) >= DOCUMENTS_A_QUERY)
    drawn = draw.sample(queries, min(len(queries), size // DOCUMENTS_A_QUERY))
    pairs = [(query, *pair) for query in drawn for pair in draw.sample(judged[query], DOCUMENTS_A_QUERY)]
    wanted = {document for _, document, _ in pairs}
    documents = {one.id: one for one in read_documents(DATA / "dl19" / "corpus.jsonl.gz") if one.id in wanted}
    texts = {query.id: query for query in read_queries(DATA / "dl19" / "queries.jsonl")}
    return [Question(texts[query], documents[document]) for query, document, _ in pairs], [pair[2] for pair in pairs]


def generate(judge: Any, rows: list[Any]) -> list[str]:
    import torch

    texts = []
    for row in rows:
        ids = torch.tensor(row)[None]
        with torch.inference_mode():
            output = judge._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=16,
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
            )
        texts.append(judge._chat.said(output[0, len(row) :].tolist()))
    return texts


def plain(judge: Any, rows: list[Any]) -> list[Answer]:
    reader = PaddedReader(judge._model)
    answers: dict[int, Answer] = {}
    for batch in reader.plan(rows, 4096):
        read = read_scores(reader.read([rows[n] for n in batch]), judge._grade_tokens)
        answers.update(zip(batch, read, strict=True))
    return [answers[n] for n in range(len(rows))]


def read_long(judge: Any, rows: list[Any]) -> None:
    PaddedReader(judge._model).read([np.concatenate(rows)[:LONG]]).start()


def agreement(answers: list[Answer], grades: list[int]) -> None:
    kept = [n for n, answer in enumerate(answers) if answer.grade is not None]
    people, llm = np.array([grades[n] for n in kept]), np.array([answers[n].grade for n in kept])
    shown = panel(people, llm, grades=SCALE.values)
    print(f"agreement with people on {len(kept)} graded pairs of {len(answers)}:")
    print(f"  scale  raw {shown.graded['raw_agreement'].value:.3f}  kappa {shown.graded['cohen_kappa'].value:.3f}")
    for threshold, binary in shown.binary.items():
        print(f"  >= {threshold}   raw {binary['raw_agreement'].value:.3f}  kappa {binary['cohen_kappa'].value:.3f}")


def spread_over(size: int, count: int) -> list[int]:
    return [round(n * (size - 1) / max(1, count - 1)) for n in range(min(size, count))]


def assign(target: list[Any], values: list[Any]) -> None:
    target[:] = values


def times_of(run: Callable[[], Any], pairs: float) -> Times:
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return Times((time.perf_counter() - clock) / pairs, (time.process_time() - processor) / pairs)


if __name__ == "__main__":
    main()
