"""A collection of loose files, as TREC publishes them, becomes what the same files in BEIR's layout become."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from judging.errors import FileError, UserError
from judging.models import Collection, Judge, Query
from judging.steps.import_collection import import_beir, import_trec
from tests.conftest import DATA
from tests.formats.test_parquet_folder import shard
from tests.steps.beir_folders import CORPUS, QUERIES, original, texts, write

pytestmark = pytest.mark.django_db

TOPICS = """<top>
<num> Number: q1
<title> who flew
<desc> Description:
Who flew first?
<narr> Narrative:
A page that names
the pilot is relevant.
</top>
<top>
<num> Number: q2
<title> what cost
</top>
<top>
<num> Number: q9
<title> judged by nobody
</top>
"""


@pytest.fixture
def corpus(tmp_path) -> Path:
    return write(tmp_path / "tiny") / "corpus.jsonl"


@pytest.fixture
def topics(tmp_path) -> Path:
    return put(tmp_path / "topics.2019.txt", TOPICS)


@pytest.fixture
def qrels(tmp_path) -> Path:
    return put(tmp_path / "qrels.2019.txt", "q1 0 d1 1\nq2 0 d2 1\nq2 0 d3 0\n")


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_documents_topics_and_qrels_become_a_collection_of_the_topics_name(corpus, topics, qrels):
    report = import_trec(corpus=corpus, topics=topics, qrels=[qrels])
    collection = report.collection
    assert (collection.name, collection.slug) == ("topics-2019", "topics-2019")
    assert texts(collection) == CORPUS
    assert dict(collection.queries.values_list("qid", "text")) == QUERIES
    assert original(collection) == {("q1", "d1"): 1, ("q2", "d2"): 1, ("q2", "d3"): 0}
    assert (report.queries_without_qrels, report.qrels) == (1, {"qrels/qrels.2019": 3})


def test_the_narrative_is_there_for_those_who_judge(corpus, topics, qrels):
    import_trec(corpus=corpus, topics=topics, qrels=[qrels])
    query = Query.objects.get(qid="q1")
    assert query.narrative == "A page that names the pilot is relevant."
    assert query.metadata["description"] == "Who flew first?"


def test_without_qrels_every_topic_is_taken(corpus, topics):
    collection = import_trec(corpus=corpus, topics=topics, name="new track").collection
    assert set(collection.queries.values_list("qid", flat=True)) == {"q1", "q2", "q9"}
    assert not Judge.objects.filter(collection=collection).exists()


def test_every_qrels_file_is_a_judge_whatever_its_name(corpus, topics, tmp_path):
    test, train = put(tmp_path / "test.txt", "q1 0 d1 1\n"), put(tmp_path / "train.tsv", "q2\td2\t1\n")
    collection = import_trec(corpus=corpus, topics=topics, qrels=[train, test]).collection
    assert set(Judge.objects.filter(collection=collection).values_list("name", flat=True)) == {
        "qrels/test",
        "qrels/train",
    }


TABBED = "".join(f"{qid}\t{text}\n" for qid, text in QUERIES.items()).encode()
LINES = "".join(json.dumps({"_id": qid, "text": text}) + "\n" for qid, text in QUERIES.items()).encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [("topics.tsv", TABBED), ("topics.txt.gz", gzip.compress(TABBED)), ("topics", LINES), ("topics.json", LINES)],
    ids=["tabs", "compressed", "JSON lines", "JSON lines by name"],
)
def test_the_form_of_the_topics_makes_no_difference(corpus, qrels, tmp_path, name, content):
    topics = tmp_path / name
    topics.write_bytes(content)
    collection = import_trec(corpus=corpus, topics=topics, qrels=[qrels]).collection
    assert (collection.name, dict(collection.queries.values_list("qid", "text"))) == ("topics", QUERIES)


def test_each_file_may_be_parquet(tmp_path):
    topics = shard(tmp_path / "t.parquet", _id=[*QUERIES], text=[*QUERIES.values()])
    corpus = shard(tmp_path / "docs.parquet", _id=[*CORPUS], title=["", "", ""], text=[*CORPUS.values()])
    qrels = shard(tmp_path / "q.parquet", **{"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
    collection = import_trec(corpus=corpus, topics=topics, qrels=[qrels]).collection
    assert (texts(collection), original(collection)) == (CORPUS, {("q1", "d1"): 1})
    assert collection.queries.get().text == QUERIES["q1"]


def test_the_same_files_again_change_nothing_and_others_need_replace(corpus, topics, qrels):
    import_trec(corpus=corpus, topics=topics, qrels=[qrels])
    assert import_trec(corpus=corpus, topics=topics, qrels=[qrels]).unchanged
    put(qrels, "q1 0 d1 0\nq2 0 d2 1\n")
    with pytest.raises(UserError, match=r"qrels.2019.txt differs. What would change: qrels 1 removed, 1 regraded"):
        import_trec(corpus=corpus, topics=topics, qrels=[qrels])
    collection = import_trec(corpus=corpus, topics=topics, qrels=[qrels], replace=True).collection
    assert original(collection) == {("q1", "d1"): 0, ("q2", "d2"): 1}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus", '{"_id": "d1", "text": "x"}\n{"_id": "d1"}\n', "corpus.jsonl:2: expected every _id once"),
        ("topics", "<top>\n<title> no number\n</top>\n", "topics.2019.txt:1: expected a <num>"),
        ("qrels", "q1 0 d1 1\nq1 0 d2 one\n", "qrels.2019.txt:2: "),
    ],
)
def test_a_bad_line_of_any_file_is_named_and_nothing_is_kept(request, corpus, topics, qrels, name, text, message):
    put(request.getfixturevalue(name), text)
    with pytest.raises(FileError, match=message):
        import_trec(corpus=corpus, topics=topics, qrels=[qrels])
    assert not Collection.objects.exists()


def test_two_qrels_files_of_one_name_are_refused(corpus, topics, qrels, tmp_path):
    (tmp_path / "other").mkdir()
    other = put(tmp_path / "other" / "qrels.2019.tsv", "q1\td1\t1\n")
    with pytest.raises(UserError, match=r"expected qrels files of different names, found .*txt and .*tsv; rename one"):
        import_trec(corpus=corpus, topics=topics, qrels=[qrels, other])


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the real collections are not at {DATA}")
@pytest.mark.parametrize("name", ["cranfield", "llmjudge"])
def test_a_real_collection_in_trec_files_is_the_one_in_beir_layout(name, tmp_path):
    whole = import_beir(path=DATA / name).collection
    queries = whole.queries.values_list("qid", "text")
    topics = "".join(f"<top>\n<num> Number: {qid}\n<title> {text}\n</top>\n" for qid, text in queries)
    qrels = "".join(f"{query} 0 {document} {grade}\n" for (query, document), grade in original(whole).items())
    loose = import_trec(
        corpus=DATA / name / "corpus.jsonl.gz",
        topics=put(tmp_path / "topics.txt", topics),
        qrels=[put(tmp_path / "test.txt", qrels)],
        name="loose",
    ).collection
    assert loose.corpus_digest == whole.corpus_digest
    assert original(loose) == original(whole)
    folded = {qid: " ".join(text.split()) for qid, text in queries}
    assert dict(loose.queries.values_list("qid", "text")) == folded


def test_grades_in_conflict_are_told_with_both_files_and_lines(corpus, topics, qrels, tmp_path):
    other = put(tmp_path / "second.txt", "q2 0 d2 1\nq1 0 d1 0\n")
    with pytest.raises(UserError) as refused:
        import_trec(corpus=corpus, topics=topics, qrels=[qrels, other])
    assert str(refused.value).startswith(f"{other}:2: query 'q1', document 'd1' is graded 0 here and 1 at {qrels}:1.")
