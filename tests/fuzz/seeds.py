"""Small valid files of every kind that the formats room reads."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
import zstandard
from pyarrow import parquet

from judging.formats.judgments import FORMS
from judging.formats.records import JudgmentLine

CORPUS = "".join(
    f'{{"_id": "d{n}", "title": "Title {n}", "text": "Some text – é {n}", "metadata": {{"year": {1990 + n}}}}}\n'
    for n in range(8)
).encode()
QUERIES = "".join(f'{{"_id": "q{n}", "text": "what is {n}?", "narrative": "…"}}\n' for n in range(4)).encode()
QRELS = "query-id\tcorpus-id\tscore\n" + "".join(f"q{n % 4}\td{n}\t{n % 3 - 1}\n" for n in range(8))
TREC_QRELS = "".join(f"q{n % 4} 0 d{n} {n % 3}\n" for n in range(8))
RUN = "".join(f"q{n // 4} Q0 d{n} {n % 4 + 1} {10.5 - n} bm25\n" for n in range(8))
TOPICS_TSV = "".join(f"{n}\twhat is number {n}?\n" for n in range(301, 306))
TOPICS = "".join(
    f"<top>\n\n<num> Number: {n}\n<title> Topic {n}\n\n<desc> Description:\nWhat is é {n}?\n\n"
    f"<narr> Narrative:\nRelevant documents\ntell of {n}.\n\n</top>\n\n"
    for n in range(301, 305)
)
JUDGMENTS = [
    JudgmentLine(
        query=f"q{n % 4}",
        document=f"d{n}",
        outcome="graded" if n % 3 else "cannot_judge",
        grade=n % 4 if n % 3 else None,
        probabilities={0: 0.25, 1: 0.5, 2: 0.125} if n % 2 else None,
        raw='"1"\n' if n % 2 else "",
        comment="=1+1" if n % 2 else "it's, well…",
        seconds=n / 7,
        assisted=bool(n % 2),
        judge="phi",
        kind="llm",
        fingerprint="f1f1f1f1",
        truncated=not n % 4,
        created_at=datetime(2026, 1, 31, 12, n, 5, 123456, tzinfo=UTC),
        updated_at=None,
    )
    for n in range(8)
]


@dataclass(frozen=True)
class Seed:
    """``kind`` as ``check`` takes it, None for a whole collection; ``data`` before it is packed by ``pack``."""

    name: str
    kind: str | None
    data: bytes
    pack: str = ""

    @property
    def is_text(self) -> bool:
        return not self.name.endswith((".parquet", ".zip"))


def packed(data: bytes, pack: str) -> bytes:
    return {"": bytes, "gz": gzip.compress, "zst": zstandard.compress}[pack](data)


def judgments(kind: str) -> bytes:
    return b"".join(FORMS[kind](JUDGMENTS))


def table(**columns: list[object]) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, row_group_size=3)
    return stream.getvalue()


CORPUS_PARQUET = table(
    _id=[f"d{n}" for n in range(8)],
    title=[f"Title {n}" for n in range(8)],
    text=[f"Some text – é {n}" for n in range(8)],
    year=list(range(8)),
)
QUERIES_PARQUET = table(_id=[f"q{n}" for n in range(4)], text=[f"what is {n}?" for n in range(4)])
QRELS_PARQUET = table(
    **{
        "query-id": [f"q{n % 4}" for n in range(8)],
        "corpus-id": [f"d{n}" for n in range(8)],
        "score": [float(n % 3) for n in range(8)],
    }
)


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny/corpus.jsonl", CORPUS)
        archive.writestr("tiny/queries.jsonl", QUERIES)
        archive.writestr("tiny/qrels/test.tsv", QRELS)
    return stream.getvalue()


SEEDS = [
    Seed("corpus.jsonl", "corpus", CORPUS),
    Seed("corpus.jsonl.gz", "corpus", CORPUS, "gz"),
    Seed("corpus.jsonl.zst", "corpus", CORPUS, "zst"),
    Seed("corpus.parquet", "corpus", CORPUS_PARQUET),
    Seed("queries.jsonl", "queries", QUERIES),
    Seed("queries.parquet", "queries", QUERIES_PARQUET),
    Seed("topics.tsv", "topics", TOPICS_TSV.encode()),
    Seed("topics.txt", "topics", TOPICS.encode()),
    Seed("qrels.tsv", "qrels", QRELS.encode()),
    Seed("qrels.txt", "qrels", TREC_QRELS.encode()),
    Seed("qrels.parquet", "qrels", QRELS_PARQUET),
    Seed("run.txt", "run", RUN.encode()),
    Seed("run.txt.gz", "run", RUN.encode(), "gz"),
    Seed("judgments.jsonl", "judgments", judgments("jsonl")),
    Seed("judgments.csv", "judgments", judgments("csv")),
    Seed("judgments.parquet", "judgments", judgments("parquet")),
    Seed("tiny.zip", None, zipped()),
]
