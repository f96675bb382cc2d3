"""A BEIR folder or zip becomes a collection: all of it or nothing, and only once."""

from __future__ import annotations

import gzip
import sys
import zipfile
from collections import Counter
from types import ModuleType

import pytest

from judging.errors import FileError, UserError
from judging.formats.scale import parse_scale
from judging.models import Collection, Document, Judge, Judgment, Query
from judging.steps.import_collection import import_beir, import_ir_dataset
from tests.conftest import DATA, SAMPLE
from tests.formats.test_ir_dataset import Dataset, GenericDoc, GenericQuery, TrecQrel
from tests.formats.test_parquet_folder import shard
from tests.steps.beir_folders import CORPUS, QUERIES, original, texts, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "tiny")


class TestWhatIsLoaded:
    def test_a_folder_becomes_a_collection_of_its_name(self, folder):
        report = import_beir(path=folder)
        collection = Collection.objects.get()
        assert (collection.slug, collection.name, collection.language) == ("tiny", "tiny", "en")
        assert texts(collection) == CORPUS
        assert dict(collection.queries.values_list("qid", "text")) == QUERIES
        assert original(collection) == {("q1", "d1"): 1, ("q2", "d2"): 1}
        assert (report.documents, report.queries, report.qrels) == (3, 2, {"qrels/test": 2})

    def test_a_zip_gives_what_its_folder_gives(self, folder, tmp_path):
        packed = tmp_path / "packed.zip"
        with zipfile.ZipFile(packed, "w") as archive:
            for file in folder.rglob("*.*"):
                archive.write(file, f"tiny/{file.relative_to(folder)}")
        loose, zipped = (import_beir(path=path).collection for path in (folder, packed))
        assert zipped.slug == "packed"
        assert (texts(zipped), original(zipped)) == (texts(loose), original(loose))
        assert zipped.corpus_digest == loose.corpus_digest

    def test_compressed_files_are_read_as_they_are(self, folder):
        for name in ("corpus.jsonl", "qrels/test.tsv"):
            (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
            (folder / name).unlink()
        assert texts(import_beir(path=folder).collection) == CORPUS

    def test_title_and_metadata_are_kept(self, tmp_path):
        rows = {"d1": {"title": "Wings", "text": "x", "metadata": {"url": "u"}, "year": 1903}}
        import_beir(path=write(tmp_path / "c", corpus=rows, qrels={}))
        document = Document.objects.get()
        assert (document.title, document.metadata) == ("Wings", {"url": "u", "year": 1903})

    def test_narrative_and_topic_of_a_query_are_kept(self, tmp_path):
        queries = {"q1": {"text": "x", "metadata": {"description": "What counts.", "topic": "t" * 300}}}
        import_beir(path=write(tmp_path / "c", queries=queries, qrels={}))
        query = Query.objects.get()
        assert (query.narrative, query.topic) == ("What counts.", "t" * 300)

    def test_ids_that_look_alike_are_different(self, tmp_path):
        corpus = {"0042": "a", "42": "b", "Nike": "c", "nike": "d", "two words": "e"}
        collection = import_beir(path=write(tmp_path / "c", corpus=corpus, qrels={})).collection
        assert texts(collection) == corpus

    def test_unusual_line_ends_inside_a_text_stay_in_it(self, tmp_path):
        corpus = ['{"_id": "d1", "text": "a\u2028b\u0085c\\fd"}']
        collection = import_beir(path=write(tmp_path / "c", corpus=corpus, qrels={})).collection
        assert texts(collection) == {"d1": "a\u2028b\u0085c\fd"}

    def test_the_name_can_be_chosen(self, folder):
        assert import_beir(path=folder, name="My Own").collection.slug == "my-own"

    @pytest.mark.parametrize("name", ["…", "x" * 81])
    def test_a_name_of_which_no_short_name_can_be_made_is_refused(self, folder, name):
        with pytest.raises(UserError, match="name"):
            import_beir(path=folder, name=name)

    def test_the_sample_loads(self):
        report = import_beir(path=SAMPLE)
        assert (report.documents, report.queries) == (406, 40)

    @pytest.mark.skipif(not DATA.exists(), reason=f"the real collections are not in {DATA}")
    def test_nfcorpus_loads(self):
        report = import_beir(path=DATA / "nfcorpus", splits=["test"])
        assert (report.documents, report.queries, sum(report.grades.values())) == (3_633, 323, 12_334)


class TestOtherLayouts:
    def test_a_parquet_folder_gives_what_the_beir_folder_gives(self, folder, tmp_path):
        root = tmp_path / "parquet"
        shard(root / "corpus" / "corpus.parquet", _id=[*CORPUS], title=[""] * len(CORPUS), text=[*CORPUS.values()])
        shard(root / "queries" / "queries.parquet", _id=[*QUERIES], text=[*QUERIES.values()])
        pairs = {"query-id": ["q1", "q2"], "corpus-id": ["d1", "d2"], "score": [1, 1]}
        shard(root / "default" / "test-00000-of-00001.parquet", **pairs)
        loose, columns = (import_beir(path=path).collection for path in (folder, root))
        assert (columns.slug, columns.splits) == ("parquet", ["test"])
        assert (texts(columns), original(columns)) == (texts(loose), original(loose))
        assert columns.corpus_digest == loose.corpus_digest
        assert import_beir(path=root).unchanged is True
        with pytest.raises(UserError, match=r"parquet has no split dev. Its splits: test."):
            import_beir(path=root, name="other", splits=["dev"])

    def test_a_data_set_of_ir_datasets_is_loaded_by_its_id(self, monkeypatch):
        package = ModuleType("ir_datasets")
        known = Dataset(
            [GenericDoc("d1", "x"), GenericDoc("d2", "y")], [GenericQuery("q1", "a")], [TrecQrel("q1", "d1", 1, "0")]
        )
        package.load = {"tiny/test": known}.__getitem__
        monkeypatch.setitem(sys.modules, "ir_datasets", package)
        report = import_ir_dataset(identifier="tiny/test")
        collection = report.collection
        assert (collection.slug, collection.splits) == ("tiny-test", ["test"])
        assert texts(collection) == {"d1": "x", "d2": "y"}
        assert original(collection) == {("q1", "d1"): 1}
        assert import_ir_dataset(identifier="tiny/test").unchanged is True


class TestSplits:
    SPLITS = {"train": ["q1\td1\t1"], "test": ["q2\td2\t1"]}

    def test_test_is_taken_where_it_exists(self, tmp_path):
        report = import_beir(path=write(tmp_path / "c", qrels=self.SPLITS))
        assert report.collection.splits == ["test"]
        assert [query.qid for query in report.collection.queries.all()] == ["q2"]
        assert report.queries_without_qrels == 1

    def test_else_every_split_is(self, tmp_path):
        splits = {"dev": ["q1\td1\t1"], "train": ["q2\td2\t1"]}
        report = import_beir(path=write(tmp_path / "c", qrels=splits))
        assert report.qrels == {"qrels/dev": 1, "qrels/train": 1}

    def test_each_split_is_a_judge_of_its_own(self, tmp_path):
        import_beir(path=write(tmp_path / "c", qrels=self.SPLITS), splits=["train", "test", "train"])
        assert set(Judge.objects.values_list("kind", "name")) == {("qrels", "qrels/train"), ("qrels", "qrels/test")}

    def test_an_unknown_split_is_answered_with_those_that_are_there(self, tmp_path):
        with pytest.raises(UserError, match=r"qrels/dev.tsv.*test, train"):
            import_beir(path=write(tmp_path / "c", qrels=self.SPLITS), splits=["dev"])

    def test_without_qrels_every_query_is_kept(self, tmp_path):
        report = import_beir(path=write(tmp_path / "c", qrels={}))
        assert (report.queries, report.queries_without_qrels, report.qrels) == (2, 0, {})
        assert report.collection.scale.values == (0, 1)

    def test_two_splits_that_disagree_on_a_pair_are_refused_with_both_lines(self, tmp_path):
        splits = {"dev": ["q1\td1\t1"], "test": ["q2\td2\t1", "q1\td1\t0"]}
        with pytest.raises(UserError, match=r"qrels/test.tsv:3: .*'q1'.*'d1'.* 0 here and 1 at qrels/dev.tsv:2"):
            import_beir(path=write(tmp_path / "c", qrels=splits), splits=["dev", "test"])
        assert not Collection.objects.exists()

    def test_two_splits_that_agree_on_a_pair_are_both_kept(self, tmp_path):
        splits = {"dev": ["q1\td1\t1"], "test": ["q1\td1\t1"]}
        report = import_beir(path=write(tmp_path / "c", qrels=splits), splits=["dev", "test"])
        assert report.qrels == {"qrels/dev": 1, "qrels/test": 1}


class TestScale:
    def scale(self, tmp_path, *grades, **options):
        qrels = {"test": [f"q1\td{n}\t{grade}" for n, grade in enumerate(grades, 1)]}
        return import_beir(path=write(tmp_path / "c", qrels=qrels), **options).collection.scale

    @pytest.mark.parametrize(
        ("grades", "values", "relevant_from"),
        [([1], (0, 1), 1), ([0, 2], (0, 1, 2), 1), ([3, 1], (0, 1, 2, 3), 2), ([0], (0, 1), 1), ([-1], (0, 1), 1)],
    )
    def test_it_is_told_from_the_grades(self, tmp_path, grades, values, relevant_from):
        scale = self.scale(tmp_path, *grades)
        assert (scale.values, scale.relevant_from) == (values, relevant_from)

    def test_the_lowest_relevant_grade_can_be_given_alone(self, tmp_path):
        assert self.scale(tmp_path, 2, relevant_from=2).relevant_from == 2

    def test_a_given_scale_is_kept_as_it_is(self, tmp_path):
        given = parse_scale("0=No, 1=Maybe, 2=Yes", 2)
        assert self.scale(tmp_path, 1, scale=given) == given

    def test_grades_beyond_a_given_scale_are_refused_by_name(self, tmp_path):
        with pytest.raises(UserError, match=r"\[2, 3\]; the scale has \[0, 1\]"):
            self.scale(tmp_path, 3, 1, 2, scale=parse_scale("0=No, 1=Yes"))
        assert not Collection.objects.exists()

    def test_negative_grades_are_kept(self, tmp_path):
        self.scale(tmp_path, -1, -2, 1)
        assert set(original(Collection.objects.get()).values()) == {-1, -2, 1}


class TestWhatIsReported:
    def test_grades_are_counted(self, tmp_path):
        qrels = {"test": ["q1\td1\t1", "q1\td2\t0", "q2\td1\t0"]}
        assert import_beir(path=write(tmp_path / "c", qrels=qrels)).grades == Counter({0: 2, 1: 1})

    def test_ids_that_only_the_qrels_know_are_kept_without_text(self, tmp_path):
        qrels = {"test": ["q1\td1\t1", "q1\tgone\t1", "lost\td2\t0"]}
        report = import_beir(path=write(tmp_path / "c", qrels=qrels))
        assert (report.documents_missing, report.queries_missing) == (["gone"], ["lost"])
        assert (report.documents, report.queries) == (3, 1)
        assert original(report.collection) == {("q1", "d1"): 1, ("q1", "gone"): 1, ("lost", "d2"): 0}
        document = Document.objects.get(docid="gone")
        assert (document.in_corpus, document.text, document.is_empty) == (False, "", True)
        assert Query.objects.get(qid="lost").in_corpus is False

    def test_empty_documents_are_kept_and_counted(self, tmp_path):
        report = import_beir(path=write(tmp_path / "c", corpus={"d1": "", "d2": " \n ", "d3": "x"}))
        assert (report.documents, report.empty) == (3, 2)

    def test_documents_of_one_text_are_counted_in_groups(self, tmp_path):
        corpus = {"d1": "a", "d2": " a ", "d3": "b", "d4": "b", "d5": "b", "d6": "c", "d7": "", "d8": ""}
        report = import_beir(path=write(tmp_path / "c", corpus=corpus))
        assert (report.duplicates, report.duplicate_groups) == (5, 2)

    def test_documents_with_the_id_of_a_query_are_counted(self, tmp_path):
        report = import_beir(path=write(tmp_path / "c", corpus={"q1": "x", "d1": "y"}))
        assert report.self_ids == 1

    def test_a_qrels_line_that_stands_there_twice_is_counted_once_with_a_warning(self, tmp_path):
        report = import_beir(path=write(tmp_path / "c", qrels={"test": ["q1\td1\t1", "q1\td1\t1"]}))
        assert report.qrels == {"qrels/test": 1}
        assert "line 3 repeats line 2" in report.warnings[0]


class TestABadLineLeavesNothingBehind:
    @pytest.mark.parametrize(
        ("file", "line", "where"),
        [
            ("corpus.jsonl", b'{"_id": "d4", "text": ', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d1", "text": "again"}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"text": "no id"}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d4", "text": "a\\u0000b"}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d4", "text": "x", "more": {"a": "\\u0000"}}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d4", "text": "\\ud800"}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d4", "text": "caf\xe9"}', "corpus.jsonl:4"),
            ("corpus.jsonl", b'{"_id": "d\x00", "text": "x"}', "corpus.jsonl:4"),
            ("queries.jsonl", b'{"_id": "q3", "text": 7}', "queries.jsonl:3"),
            ("queries.jsonl", b'{"_id": "q3", "text": "\\u0000"}', "queries.jsonl:3"),
            ("qrels/test.tsv", b"q1\td2\t0.5", "qrels/test.tsv:4"),
            ("qrels/test.tsv", b"q1\td2", "qrels/test.tsv:4"),
            ("qrels/test.tsv", b"q1\td1\t0", "qrels/test.tsv:4"),
            ("qrels/test.tsv", b"q1\td\x00\t1", "qrels/test.tsv:4"),
            ("qrels/test.tsv", b"q1\td\xff\t1", "qrels/test.tsv:4"),
        ],
    )
    def test_and_is_named(self, folder, file, line, where):
        with (folder / file).open("ab") as stream:
            stream.write(line + b"\n")
        with pytest.raises(FileError) as refusal:
            import_beir(path=folder)
        assert f"{folder}/{where}: expected" in str(refusal.value)
        assert not any(model.objects.exists() for model in (Collection, Document, Query, Judge, Judgment))

    def test_nor_does_it_touch_what_it_would_have_replaced(self, folder):
        collection = import_beir(path=folder).collection
        write(folder, corpus=['{"_id": "d1", "text": "new"}', "{"])
        with pytest.raises(FileError, match=r"corpus\.jsonl:2"):
            import_beir(path=folder, replace=True)
        assert texts(collection) == CORPUS
        assert set(collection.documents.values_list("in_corpus", flat=True)) == {True}

    @pytest.mark.parametrize("part", ["corpus", "queries", "qrels"])
    def test_an_id_longer_than_its_column_is_refused_on_every_database(self, tmp_path, part):
        long = "x" * 513
        rows = {"corpus": {long: "x"}, "queries": {long: "x"}, "qrels": {"test": [f"q1\t{long}\t1"]}}[part]
        with pytest.raises(UserError, match="512 characters; found one of 513"):
            import_beir(path=write(tmp_path / "c", **{"qrels": {}, part: rows}))
        assert not Collection.objects.exists()

    def test_a_corpus_without_a_document_is_refused(self, tmp_path):
        with pytest.raises(UserError, match="holds no document"):
            import_beir(path=write(tmp_path / "c", corpus={}))
        assert not Collection.objects.exists()
