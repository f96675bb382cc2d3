"""A collection of every awkward id, and an export of it in memory."""

from __future__ import annotations

import io
import zipfile

from judging.formats.scale import default_scale
from judging.steps.export import export_zip
from tests.factories import make_collection, make_judgment, make_llm, make_person

IDS = ["0042", "42", "Nike", "nike", "é", "e\u0301", "中", "a_b-c.d", "'q'", '"in"side', 'say"so']


def odd_collection():
    """Qrels of every awkward id, two people who agree on d1 of q1 and differ on d2, an LLM that has judged d3."""
    collection = make_collection(
        "odd",
        documents=[*IDS, "d1", "d2", "d3"],
        queries=["q1", *IDS],
        qrels={(qid, docid): n % 4 - 1 for qid in IDS[:3] for n, docid in enumerate(IDS, -1)} | {("q1", "0042"): 2},
        scale=default_scale(2),
    )
    ada, bob = make_person("ada"), make_person("bob")
    make_judgment(ada, collection, "q1", "d1", 1, comment="a\nb\tc", seconds=1.5)
    make_judgment(bob, collection, "q1", "d1", 1)
    make_judgment(ada, collection, "q1", "d2", 0)
    make_judgment(bob, collection, "q1", "d2", 1)
    make_judgment(ada, collection, "q1", "d3", None)
    make_judgment(bob, collection, "42", "d3", 0)
    phi = make_llm("phi", model="Phi-3")
    make_judgment(phi, collection, "q1", "d3", 2, raw="2", probabilities={"0": 0.1, "2": 0.9}, truncated=True,
                  prompt_tokens=80, completion_tokens=1)  # fmt: skip
    make_judgment(phi, collection, "q1", "d1", None, outcome="unparsed", raw="well")
    return collection


def files_of(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def unzipped(collection, policy=None, content=None):
    _, pieces = export_zip(collection=collection, policy=policy, content=content)
    return zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
