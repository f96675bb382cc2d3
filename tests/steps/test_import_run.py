"""A TREC run file becomes a run; its scores decide the order."""

from __future__ import annotations

import gzip

import pytest

from judging.errors import FileError, UserError
from judging.models import Document, Run
from judging.steps.import_run import import_run
from tests.factories import make_collection, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(documents=["d1", "d2", "d3", "10", "9"], queries=["q1", "q2"])


def write(tmp_path, *lines, name="bm25.txt"):
    file = tmp_path / name
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def ranking(run, qid="q1"):
    return list(run.hits.filter(query__qid=qid).order_by("rank").values_list("document__docid", "score"))


def test_the_score_decides_the_order_and_ranks_count_from_one(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 d1 0 1.5 x", "q1 Q0 d2 1 -2e-1 x", "q1 Q0 d3 2 2.5 x")
    report = import_run(collection=collection, path=file)
    assert ranking(report.run) == [("d3", 2.5), ("d1", 1.5), ("d2", -0.2)]
    assert list(report.run.hits.order_by("rank").values_list("rank", flat=True)) == [1, 2, 3]
    assert (report.queries, report.hits) == (1, 3)


def test_ties_stand_by_document_id_descending(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 10 1 1 x", "q1 Q0 9 2 1.0 x", "q1 Q0 d1 3 1 x")
    assert [docid for docid, _ in ranking(import_run(collection=collection, path=file).run)] == ["d1", "9", "10"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_file_in_the_order_of_its_scores_has_no_disagreement(collection, tmp_path, first):
    file = write(tmp_path, f"q1 Q0 d1 {first} 9 x", f"q1 Q0 d2 {first + 1} 8 x", f"q2 Q0 d2 {first} 1 x")
    assert import_run(collection=collection, path=file).rank_disagreements == 0


def test_lines_that_stand_elsewhere_by_their_rank_are_counted(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 d1 1 7 x", "q1 Q0 d2 2 9 x", "q1 Q0 d3 3 5 x")
    assert import_run(collection=collection, path=file).rank_disagreements == 2


def test_the_order_of_the_lines_does_not_matter(collection, tmp_path):
    file = write(tmp_path, "q2 Q0 d1 2 1 x", "q1 Q0 d1 1 2 x", "q2 Q0 d2 1 3 x", "q1 Q0 d3 2 1 x")
    report = import_run(collection=collection, path=file)
    assert ranking(report.run, "q1") == [("d1", 2), ("d3", 1)]
    assert ranking(report.run, "q2") == [("d2", 3), ("d1", 1)]
    assert report.rank_disagreements == 0


def test_documents_that_the_corpus_lacks_are_kept_by_their_id(collection, tmp_path):
    report = import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 2 x", "q1 Q0 new 2 1 x"))
    assert report.missing_documents == ["new"]
    assert ranking(report.run) == [("d1", 2), ("new", 1)]
    assert Document.objects.get(docid="new").in_corpus is False


def test_documents_that_another_file_brought_are_missing_here_too(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 new 1 1 x")
    import_run(collection=collection, path=file, name="a")
    assert import_run(collection=collection, path=file, name="b").missing_documents == ["new"]
    assert import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x"), name="c").missing_documents == []


def test_queries_that_the_collection_lacks_are_left_out_and_named(collection, tmp_path):
    report = import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 2 x", "z Q0 d1 1 1 x", "a Q0 d1 1 1 x"))
    assert (report.other_queries, report.queries, report.hits) == (["a", "z"], 1, 1)


@pytest.mark.parametrize(
    ("lines", "found"), [(["z Q0 d1 1 1 x"], "found none of them, but 'z'"), ([], "the file has no line")]
)
def test_a_file_without_any_query_of_the_collection_is_an_error(collection, tmp_path, lines, found):
    with pytest.raises(FileError, match=r"expected queries of .* \(such as 'q1'\)") as refusal:
        import_run(collection=collection, path=write(tmp_path, *lines))
    assert found in str(refusal.value)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "bad",
    ["q1 Q0 d1 2 1 x", "q1 Q0 d2 2 nan x", "q1 Q0 d2 2 inf x", "q1 Q0 d2 two 1 x", "q1 d2 2 1 x", "q1 Q0 d\0 2 1 x"],
)
def test_a_bad_line_is_named_and_nothing_is_kept(collection, tmp_path, bad):
    file = write(tmp_path, "q1 Q0 d1 1 2 x", bad, "q1 Q0 new 3 0.5 x")
    with pytest.raises(FileError, match=r"bm25\.txt:2: expected"):
        import_run(collection=collection, path=file)
    assert not Run.objects.exists()
    assert Document.objects.count() == 5


@pytest.mark.parametrize(
    ("file", "name"),
    [("BM25.txt", "BM25"), ("TREC.v1.2.run", "TREC.v1.2"), ("plain", "plain"), ("best.trec", "best")],
)
def test_a_run_is_called_as_its_file(collection, tmp_path, file, name):
    assert import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x", name=file)).run.name == name


def test_a_compressed_file_is_read_as_it_is(collection, tmp_path):
    file = tmp_path / "BM25.txt.gz"
    file.write_bytes(gzip.compress(b"q1 Q0 d1 1 1 x\n"))
    run = import_run(collection=collection, path=file).run
    assert (run.name, ranking(run)) == ("BM25", [("d1", 1)])


def test_a_run_says_where_it_is_from_and_is_complete(collection, tmp_path):
    run = import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 anserini")).run
    assert (run.kind, run.identity["file"], run.identity["tag"]) == ("imported", "bm25.txt", "anserini")
    assert len(run.identity["sha256"]) == 64
    assert run.completed_at is not None


def test_the_same_file_again_changes_nothing(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 d1 1 1 x", "q1 Q0 new 2 2 x", "z Q0 d1 1 1 x")
    first = import_run(collection=collection, path=file)
    hits = set(first.run.hits.values_list("pk"))
    second = import_run(collection=collection, path=file)
    assert (first.unchanged, second.unchanged) == (False, True)
    assert set(second.run.hits.values_list("pk")) == hits
    for report in (first, second):
        assert (report.hits, report.missing_documents, report.other_queries) == (2, ["new"], ["z"])
        assert report.rank_disagreements == 2


def test_a_changed_file_needs_replace(collection, tmp_path):
    import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x"))
    changed = write(tmp_path, "q1 Q0 d2 1 1 x", "q2 Q0 d2 1 1 x")
    with pytest.raises(UserError, match=r"another making \(sha256\).*--replace"):
        import_run(collection=collection, path=changed)
    run = import_run(collection=collection, path=changed, replace=True).run
    assert (ranking(run, "q1"), ranking(run, "q2")) == ([("d2", 1)], [("d2", 1)])
    assert Run.objects.count() == 1


def test_a_run_that_a_pool_uses_is_not_replaced(collection, tmp_path):
    run = import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x")).run
    make_pool(collection, run, name="p")
    with pytest.raises(UserError, match="used by the pool p"):
        import_run(collection=collection, path=write(tmp_path, "q1 Q0 d2 1 1 x"), replace=True)
    assert ranking(run) == [("d1", 1)]


def test_a_replacement_that_fails_leaves_the_old_run(collection, tmp_path):
    run = import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x")).run
    with pytest.raises(UserError, match="512 characters"):
        import_run(collection=collection, path=write(tmp_path, f"q1 Q0 {'d' * 513} 1 1 x"), replace=True)
    assert ranking(run) == [("d1", 1)]


def test_a_name_that_is_too_long_is_refused(collection, tmp_path):
    with pytest.raises(UserError, match="200 characters"):
        import_run(collection=collection, path=write(tmp_path, "q1 Q0 d1 1 1 x"), name="n" * 201)


def test_runs_of_two_collections_may_share_a_name(collection, tmp_path):
    file = write(tmp_path, "q1 Q0 d1 1 1 x")
    other = make_collection()
    assert import_run(collection=collection, path=file).run != import_run(collection=other, path=file).run
