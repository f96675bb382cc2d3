from hypothesis import given
from hypothesis import strategies as st

from judging.formats.diff import QrelsDiff, QueryDiff, diff_qrels, diff_qrels_files
from judging.formats.records import Qrel
from tests.formats.test_parquet_folder import shard

GRADES = st.dictionaries(st.tuples(st.sampled_from("pqr"), st.sampled_from("abcde")), st.integers(-1, 2))


def qrels(grades):
    return [Qrel(query, document, grade) for (query, document), grade in grades.items()]


def test_each_query_tells_what_was_added_removed_and_regraded():
    before = {("q", "a"): 0, ("q", "b"): 1, ("q", "c"): 2, ("r", "a"): 1, ("s", "a"): 1}
    after = {("q", "a"): 0, ("q", "b"): 3, ("q", "z"): 1, ("q", "d"): 0, ("s", "a"): 1, ("t", "a"): -1}
    diff = diff_qrels(qrels(before), qrels(after))
    assert diff == QrelsDiff(
        [
            QueryDiff("q", added=[("d", 0), ("z", 1)], removed=[("c", 2)], regraded=[("b", 1, 3)]),
            QueryDiff("r", removed=[("a", 1)]),
            QueryDiff("t", added=[("a", -1)]),
        ],
        unchanged=2,
    )
    assert (diff.added, diff.removed, diff.regraded) == (3, 2, 1)


def test_the_form_and_order_of_the_files_do_not_matter(tmp_path):
    before, after = tmp_path / "a.tsv", tmp_path / "b.txt"
    before.write_text("query-id\tcorpus-id\tscore\nq\td\t1\nr\td\t0\n")
    after.write_text("r 0 d 0\nq 0 d 1.0\n")
    diff = diff_qrels_files(before, after, warn=[].append)
    assert diff == QrelsDiff([], unchanged=2)
    table = shard(tmp_path / "c.parquet", **{"query-id": ["q", "r"], "corpus-id": ["d", "d"], "score": [1, 0]})
    assert diff_qrels_files(before, table, warn=[].append) == QrelsDiff([], unchanged=2)


@given(GRADES, GRADES)
def test_the_changes_make_the_second_of_the_first(before, after):
    diff = diff_qrels(qrels(before), qrels(after))
    made = dict(before)
    for query in diff.queries:
        for document, grade in query.removed:
            assert made.pop((query.query, document)) == grade
        for document, grade in query.added:
            assert (query.query, document) not in made
            made[query.query, document] = grade
        for document, old, new in query.regraded:
            assert made[query.query, document] == old != new
            made[query.query, document] = new
    assert made == after
    assert diff.unchanged == sum(after.get(pair) == grade for pair, grade in before.items())
