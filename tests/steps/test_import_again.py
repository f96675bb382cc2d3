"""The same files again change nothing; changed ones say what would change, and are taken over on request."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from judging.errors import UserError
from judging.formats.scale import parse_scale
from judging.models import Collection, Document, Judgment
from judging.steps.import_collection import import_beir
from tests.factories import make_judgment, make_person, make_pool
from tests.steps.beir_folders import CORPUS, QRELS, QUERIES, original, texts, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "tiny")


class TestAgain:
    def test_the_same_bytes_change_nothing(self, folder):
        first = import_beir(path=folder)
        rows = set(Document.objects.values_list("pk", "text")), set(Judgment.objects.values_list("pk"))
        second = import_beir(path=folder)
        assert (first.unchanged, second.unchanged) == (False, True)
        assert (set(Document.objects.values_list("pk", "text")), set(Judgment.objects.values_list("pk"))) == rows
        assert (second.documents, second.queries, second.qrels) == (3, 2, {"qrels/test": 2})

    @pytest.mark.parametrize(
        ("options", "what"),
        [
            ({"exclude_self": True}, "--exclude-self"),
            ({"language": "fr"}, "--language"),
            ({"scale": parse_scale("0=No, 1=Yes")}, "--scale"),
            ({"scale": parse_scale("0=No, 1=Related, 2=Yes"), "relevant_from": 2}, "--scale and --relevant-from"),
        ],
    )
    def test_the_same_bytes_with_other_settings_are_not_passed_over_in_silence(self, folder, options, what):
        import_beir(path=folder)
        with pytest.raises(UserError, match=f"another {what}. Give --replace"):
            import_beir(path=folder, **options)
        assert import_beir(path=folder, replace=True, **options).unchanged is False
        assert import_beir(path=folder, **options).unchanged is True

    def test_settings_that_are_not_asked_for_again_may_be_as_they_are(self, folder):
        import_beir(path=folder, language="fr", exclude_self=True, scale=parse_scale("0=No, 1=Yes"))
        assert import_beir(path=folder).unchanged is True

    def test_changed_files_are_refused_by_name(self, folder):
        import_beir(path=folder)
        write(folder, corpus=CORPUS | {"d4": "new"}, qrels={"dev": ["q1\td1\t1"]})
        (folder / "qrels/test.tsv").unlink()
        with pytest.raises(UserError) as refusal:
            import_beir(path=folder)
        assert "corpus.jsonl differs, qrels/dev.tsv is new, qrels/test.tsv is gone" in str(refusal.value)
        assert "queries.jsonl" not in str(refusal.value)
        assert Document.objects.count() == 3

    def test_what_would_change_is_counted_before_anything_is_replaced(self, folder):
        write(folder, qrels={"test": ["q1\td1\t1", "q2\td2\t1", "q2\td3\t0"]})
        import_beir(path=folder)
        write(
            folder,
            corpus={"d1": "wings, again", "d2": CORPUS["d2"], "d4": "new", "d5": "new"},
            queries={**QUERIES, "q1": "asked otherwise"},
            qrels={"test": ["q1\td1\t0", "q2\td2\t1", "q2\td4\t1", "q2\td5\t0"]},
        )
        told = "documents 2 added, 1 removed, 1 changed; queries 1 changed; qrels 2 added, 1 removed, 1 regraded"
        with pytest.raises(UserError, match=f"What would change: {told}. Give --replace"):
            import_beir(path=folder)
        assert texts(Collection.objects.get()) == CORPUS
        assert str(import_beir(path=folder, replace=True).changes) == told

    def test_a_changed_title_or_metadata_is_a_changed_document(self, tmp_path):
        rows = {key: {"title": "T", "text": "x", "metadata": {"year": 1}} for key in ("d1", "d2", "d3")}
        import_beir(path=write(tmp_path / "c", corpus=rows))
        rows["d1"] = {**rows["d1"], "title": "t"}
        rows["d2"] = {**rows["d2"], "metadata": {"year": 2}}
        changes = import_beir(path=write(tmp_path / "c", corpus=rows), replace=True).changes
        assert changes is not None
        assert (changes.documents.added, changes.documents.removed, changes.documents.changed) == (0, 0, 2)

    def test_files_that_differ_in_the_order_of_lines_alone_change_nothing(self, folder):
        import_beir(path=folder)
        write(folder, corpus=dict(reversed(CORPUS.items())))
        with pytest.raises(UserError, match=r"What would change: no document, query or grade. Give --replace"):
            import_beir(path=folder)

    def test_a_first_import_changes_nothing_that_was_there(self, folder):
        assert import_beir(path=folder).changes is None

    def test_replacing_changes_documents_and_queries_in_place(self, folder):
        collection = import_beir(path=folder).collection
        before = dict(collection.documents.values_list("docid", "pk"))
        digest = collection.corpus_digest
        write(folder, corpus={"d1": "wings, again", "d2": "floors", "d4": "new"}, queries={"q1": "who", "q2": "what"})
        report = import_beir(path=folder, replace=True)
        after = dict(collection.documents.values_list("docid", "pk"))
        assert {docid: after[docid] for docid in before} == before
        assert texts(collection) == {"d1": "wings, again", "d2": "floors", "d3": "", "d4": "new"}
        assert report.documents_missing == ["d3"]
        assert dict(collection.queries.values_list("qid", "text")) == {"q1": "who", "q2": "what"}
        assert report.collection.corpus_digest != digest

    def test_what_left_the_corpus_can_come_back(self, folder):
        collection = import_beir(path=folder).collection
        write(folder, corpus={"d1": "wings"}, queries={"q1": "who flew"})
        import_beir(path=folder, replace=True)
        assert set(collection.queries.filter(in_corpus=True).values_list("qid", flat=True)) == {"q1"}
        write(folder)
        report = import_beir(path=folder, replace=True)
        assert (texts(collection), report.documents, report.queries) == (CORPUS, 3, 2)
        assert report.documents_missing == report.queries_missing == []

    def test_replacing_keeps_what_people_said(self, folder):
        collection = import_beir(path=folder).collection
        pool = make_pool(collection, name="p")
        person = make_person()
        make_judgment(person, collection, "q1", "d3", 1)
        pairs = pool.pairs.count()
        write(folder, corpus={"d1": "wings"}, qrels={"test": ["q1\td1\t0"]})
        import_beir(path=folder, replace=True)
        assert Judgment.objects.by_people().get().document.docid == "d3"
        assert pool.pairs.count() == pairs
        assert original(collection) == {("q1", "d1"): 0}

    def test_replacing_takes_the_qrels_of_splits_no_longer_chosen_away(self, folder):
        write(folder, qrels=QRELS | {"dev": ["q1\td2\t1"]})
        collection = import_beir(path=folder, splits=["dev", "test"]).collection
        import_beir(path=folder, splits=["test"], replace=True)
        assert list(collection.qrels.values_list("name", flat=True)) == ["qrels/test"]
        assert original(collection) == {("q1", "d1"): 1, ("q2", "d2"): 1}

    def test_every_character_counts_for_the_digest_of_the_corpus(self, tmp_path):
        corpora = [CORPUS, CORPUS | {"d1": "wings "}, CORPUS | {"d1": {"title": "wings", "text": ""}}]
        digests = {
            import_beir(path=write(tmp_path / f"c{n}", corpus=corpus)).collection.corpus_digest
            for n, corpus in enumerate(corpora)
        }
        assert len(digests) == 3

    def test_memory_does_not_grow_with_the_texts(self, folder):
        """Loaded first, and then over what is there."""
        text = "x" * 11_000
        lines = [json.dumps({"_id": f"d{n}", "text": f"{n} {text}"}) for n in range(2_000)]
        write(folder, corpus=lines)
        for replace in (False, True):
            tracemalloc.start()
            try:
                import_beir(path=folder, replace=replace)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert peak < 8_000_000, "all texts together are 22 MB"
