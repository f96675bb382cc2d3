from __future__ import annotations

import pytest

from judging.formats.scale import default_scale
from judging.models import Judge, Pool
from judging.steps import serve
from judging.steps.judgments import Said
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.views.pages import Browser, browser_of


@pytest.fixture
def person() -> Judge:
    return make_person("ann")


@pytest.fixture
def lead(db: None) -> Judge:
    return make_person("lea", is_staff=True)


@pytest.fixture
def as_person(person: Judge) -> Browser:
    return browser_of(person)


@pytest.fixture
def as_lead(lead: Judge) -> Browser:
    return browser_of(lead)


@pytest.fixture
def pool(db: None) -> Pool:
    """Three unjudged documents of one query, and a known relevant one."""
    collection = make_collection("cran", documents=["d1", "d2", "d3", "known"], qrels={("q1", "known"): 1})
    return make_pool(collection, make_run(collection, {"q1": ["d1", "known", "d2", "d3"]}), name="cran", depth=3)


def judge_all(pool: Pool, annotator: Judge, grades: list[int | None], **said: object) -> None:
    """A person answers the next pairs with these grades; None is ``cannot judge``."""
    for grade in grades:
        pair = serve.next_pair(pool=pool, annotator=annotator)
        assert pair is not None
        outcome = "cannot_judge" if grade is None else "graded"
        serve.answer(pair=pair, annotator=annotator, said=Said(outcome=outcome, grade=grade, seconds=4.0, **said))  # type: ignore[arg-type]


@pytest.fixture
def judged_pool(db: None) -> Pool:
    """Two people, two LLMs, ties, pairs that nobody could judge, answers that could not be read, copies of a text."""
    scale = default_scale(2)
    documents = {f"d{n}": f"text number {n}" for n in range(12)} | {"copy": "text number 0", "known": "a good answer"}
    queries = [f"q{n}" for n in range(4)]
    qrels = {(query, "known"): 2 for query in queries} | {("q0", "d11"): 0, ("q1", "lost"): 1}
    collection = make_collection("trec", documents=documents | {"lost": ""}, queries=queries, qrels=qrels, scale=scale)
    collection.documents.filter(docid="lost").update(in_corpus=False)
    run = make_run(collection, {query: ["known", *list(documents)[:6]] for query in queries})
    make_run(collection, {query: [*list(documents)[3:9], "known"] for query in queries}, name="other")
    pool = make_pool(collection, run, name="trec", depth=5, people=2, guidelines="# Look *twice*")
    for name, grades in (("ada", [0, 1, 2, 0, 1] * 3), ("ben", [0, 1, 1, None, 0] * 2 + [2, 2])):
        judge_all(pool, make_person(name), grades, comment="" if name == "ada" else "not sure")
    llms = [make_llm("first"), make_llm("second")]
    for number, pair in enumerate(pool.pairs.all()):
        outcome = ("graded", "graded", "unparsed", "out_of_scale", "failed")[number % 5]
        for shift, llm in enumerate(llms):
            qid, docid = pair.query.qid, pair.document.docid
            if outcome == "graded":
                make_judgment(llm, collection, qid, docid, (number + shift) % 3)
            else:
                make_judgment(llm, collection, qid, docid, None, outcome=outcome)
    return pool
