"""The export: files that everybody's tools read, ids as they came in, the same state the same bytes."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile

import ir_measures
import pytest
import pytrec_eval

from judging.errors import UserError
from judging.models import Judge, Judgment
from judging.steps.export import export_qrels, export_zip
from judging.steps.export_files import Content
from judging.steps.merge import Policy, merge
from tests.factories import make_collection, make_judgment
from tests.steps.exports import IDS, files_of, odd_collection, unzipped

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return odd_collection()


@pytest.fixture
def policy(collection):
    return Policy(llm=(Judge.objects.get(kind="llm"),))


def rows_of(file):
    """As BEIR's loader reads a TSV."""
    with file.open(encoding="utf-8") as stream:
        reader = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(reader)
        return [tuple(row) for row in reader]


def test_the_folder_holds_these_files(collection, tmp_path):
    export_qrels(collection=collection, out=tmp_path / "out")
    assert sorted(files_of(tmp_path / "out")) == [
        "judgments.jsonl",
        "manifest.json",
        "qrels.trec",
        "qrels/augmented.tsv",
        "sources.tsv",
        "unresolved.tsv",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_pytrec_eval_and_ir_measures_and_beirs_loader_read_the_merged_qrels_back(collection, policy, tmp_path):
    export_qrels(collection=collection, out=tmp_path, policy=policy)
    merged = merge(collection=collection, policy=policy).qrels
    assert set(merged["0042"]) == set(IDS)
    with (tmp_path / "qrels.trec").open(encoding="utf-8") as stream:
        assert pytrec_eval.parse_qrel(stream) == merged
    read = ir_measures.util.QrelsConverter(ir_measures.read_trec_qrels(str(tmp_path / "qrels.trec"))).as_dict_of_dict()
    assert {query: dict(grades) for query, grades in read.items()} == merged
    beir: dict[str, dict[str, int]] = {}
    for query, document, score in rows_of(tmp_path / "qrels" / "augmented.tsv"):
        beir.setdefault(query, {})[document] = int(score)
    assert beir == merged


def test_the_lines_are_sorted_and_begin_with_beirs_header(collection, tmp_path):
    export_qrels(collection=collection, out=tmp_path)
    lines = (tmp_path / "qrels" / "augmented.tsv").read_bytes().split(b"\n")
    assert lines[0] == b"query-id\tcorpus-id\tscore"
    assert [tuple(row[:2]) for row in rows_of(tmp_path / "qrels" / "augmented.tsv")] == sorted(
        (query, document) for query, grades in merge(collection=collection).qrels.items() for document in grades
    )
    assert (tmp_path / "qrels.trec").read_text(encoding="utf-8").startswith('0042 0 "in"side -1\n')


def test_every_grade_has_its_source_and_ties_are_listed(collection, policy, tmp_path):
    export_qrels(collection=collection, out=tmp_path, policy=policy)
    sources = rows_of(tmp_path / "sources.tsv")
    assert [row for row in sources if row[0] == "q1"] == [
        ("q1", "0042", "2", "qrels"),
        ("q1", "d1", "1", "people:2/2"),
        ("q1", "d3", "2", f"llm:{policy.llm[0].label}"),
    ]
    assert [row[:3] for row in sources] == rows_of(tmp_path / "qrels" / "augmented.tsv")
    assert rows_of(tmp_path / "unresolved.tsv") == [("q1", "d2", "0,1")]


def test_qrels_and_sources_are_sorted_by_code_points(tmp_path):
    qrels = {("b", "d"): 1, ("a", "é"): 0, ("a", "z"): 1, ("B", "10"): 0, ("B", "9"): 1}
    collection = make_collection(documents=["d", "é", "z", "10", "9"], queries=["b", "a", "B"], qrels=qrels)
    export_qrels(collection=collection, out=tmp_path)
    expected = [("B", "10", "0"), ("B", "9", "1"), ("a", "z", "1"), ("a", "é", "0"), ("b", "d", "1")]
    assert rows_of(tmp_path / "qrels" / "augmented.tsv") == expected
    assert [row[:3] for row in rows_of(tmp_path / "sources.tsv")] == expected
    trec = (tmp_path / "qrels.trec").read_text(encoding="utf-8").splitlines()
    assert trec == [f"{query} 0 {document} {grade}" for query, document, grade in expected]


def test_blanks_in_ids_are_written_in_beir_as_they_are_and_refused_for_trec_by_name(tmp_path):
    collection = make_collection(documents=["Nike shoes", '"a" b'], qrels={("q1", "Nike shoes"): 1, ("q1", '"a" b'): 0})
    with pytest.raises(UserError, match=r"found '\"a\" b'. Export as BEIR TSV instead"):
        export_qrels(collection=collection, out=tmp_path / "trec")
    assert list(tmp_path.iterdir()) == []
    export_qrels(collection=collection, out=tmp_path / "beir", content=Content(formats=["beir"]))
    assert rows_of(tmp_path / "beir" / "qrels" / "augmented.tsv") == [("q1", '"a" b', "0"), ("q1", "Nike shoes", "1")]
    assert rows_of(tmp_path / "beir" / "sources.tsv") == [
        ("q1", '"a" b', "0", "qrels"),
        ("q1", "Nike shoes", "1", "qrels"),
    ]
    assert "qrels.trec" not in files_of(tmp_path / "beir")


def test_a_tab_in_an_id_is_refused_by_name_and_leaves_nothing_behind(tmp_path):
    collection = make_collection(documents=["a\tb"], qrels={("q1", "a\tb"): 1})
    with pytest.raises(UserError, match=r"corpus-id .* found 'a\\tb'"):
        export_qrels(collection=collection, out=tmp_path / "out", content=Content(formats=["beir"]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("docid", ["a b", "a\u00a0b", "a\u3000b", "a\x1cb"])
def test_the_zip_of_ids_with_any_white_space_has_the_beir_files_alone(docid):
    collection = make_collection(documents={"d1": "same", docid: "same"}, qrels={("q1", "d1"): 1})
    with unzipped(collection) as archive:
        assert [name.partition("/")[2] for name in archive.namelist()] == [
            "qrels/augmented.tsv",
            "sources.tsv",
            "unresolved.tsv",
            "judgments.jsonl",
            "manifest.json",
        ]
        assert f"q1\t{docid}\t1" in archive.read(archive.namelist()[0]).decode()


def test_the_same_state_gives_the_same_bytes(collection, policy, tmp_path):
    for name in ("one", "two"):
        export_qrels(collection=collection, out=tmp_path / name, policy=policy)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    one, two = (b"".join(export_zip(collection=collection, policy=policy)[1]) for _ in range(2))
    assert one == two


def test_the_bytes_do_not_depend_on_the_order_in_which_rows_came(collection, policy, tmp_path):
    export_qrels(collection=collection, out=tmp_path / "one", policy=policy)
    for judgment in Judgment.objects.order_by("-pk"):
        Judgment.objects.filter(pk=judgment.pk).delete()
        judgment.pk = None
        judgment.save()
    export_qrels(collection=collection, out=tmp_path / "two", policy=policy)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_the_zip_holds_the_files_of_the_folder(collection, policy, tmp_path):
    export_qrels(collection=collection, out=tmp_path, policy=policy)
    with unzipped(collection, policy) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {f"odd-augmented/{name}": content for name, content in files_of(tmp_path).items()}


def test_the_manifest_tells_counts_policy_judges_and_checksums(collection, policy, tmp_path):
    collection.checksums = {"corpus.jsonl": "0" * 64}
    collection.save()
    export = export_qrels(collection=collection, out=tmp_path, policy=policy)
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert manifest == export.manifest
    assert manifest["files"] == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in files_of(tmp_path).items()
        if name != "manifest.json"
    }
    assert manifest["collection"]["inputs"] == {"corpus.jsonl": "0" * 64}
    assert manifest["collection"]["scale"] == collection.scale.as_json()
    assert manifest["policy"] == policy.as_json()
    assert manifest["counts"] == {
        "qrels": {"-1": 9, "0": 9, "1": 6, "2": 10},
        "people": {"0": 1, "1": 1},
        "llm": {"2": 1},
    }
    assert (manifest["judgments"], manifest["unresolved"]) == (37, 1)
    assert [(judge["kind"], judge["name"], judge["configuration"]) for judge in manifest["judges"]] == [
        ("llm", "phi", {"model": "Phi-3"}),
        ("person", "ada", {}),
        ("person", "bob", {}),
        ("qrels", "qrels/test", {}),
    ]


def test_an_earlier_export_is_replaced(collection, policy, tmp_path):
    out = tmp_path / "out"
    export_qrels(collection=collection, out=out)
    export_qrels(collection=collection, out=out, content=Content(formats=["beir"]), policy=policy)
    assert "qrels.trec" not in files_of(out)
    assert json.loads((out / "manifest.json").read_bytes())["policy"]["llm"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_that_fails_leaves_the_earlier_one(collection, tmp_path):
    out = tmp_path / "out"
    export_qrels(collection=collection, out=out)
    before = files_of(out)
    make_judgment(Judge.objects.get(name="ada"), collection, "q1", "nike", 1)
    collection.documents.filter(docid="nike").update(docid="ni ke")
    with pytest.raises(UserError, match="'ni ke'"):
        export_qrels(collection=collection, out=out)
    assert files_of(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "foreign",
    [
        {"notes.txt": "mine"},
        {"manifest.json": '{"name": "a web page"}'},
        {"manifest.json": "not JSON"},
        {"manifest.json": '{"software": {"name": "unjudged"}, "files": {}}', "notes.txt": "mine"},
    ],
)
def test_a_folder_with_anything_else_in_it_is_not_touched(collection, tmp_path, foreign):
    for name, content in foreign.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match="holds other things than an earlier export: choose another --out"):
        export_qrels(collection=collection, out=tmp_path)
    assert {name: content.decode() for name, content in files_of(tmp_path).items()} == foreign


def test_a_file_in_the_place_of_the_folder_is_not_touched(collection, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError, match="choose another --out"):
        export_qrels(collection=collection, out=tmp_path / "out")
    with pytest.raises(UserError, match="cannot be written"):
        export_qrels(collection=collection, out=tmp_path / "out" / "below")
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("formats", [[], ["beir", "xml"]])
def test_an_unknown_format_is_refused_before_anything_is_made(collection, tmp_path, formats):
    with pytest.raises(UserError, match=r"--format: expected beir or trec, found (xml|nothing)"):
        export_qrels(collection=collection, out=tmp_path / "out", content=Content(formats=formats))
    assert list(tmp_path.iterdir()) == []


def test_a_collection_without_any_judgment_gives_files_without_rows(tmp_path):
    export_qrels(collection=make_collection(), out=tmp_path)
    assert rows_of(tmp_path / "qrels" / "augmented.tsv") == []
    assert (tmp_path / "judgments.jsonl").read_bytes() == (tmp_path / "qrels.trec").read_bytes() == b""


def test_texts_of_documents_are_not_read(collection, tmp_path, django_assert_num_queries):
    with django_assert_num_queries(8) as captured:
        export_qrels(collection=collection, out=tmp_path)
    assert not any('"judging_document"."text"' in query["sql"] for query in captured)


class TestWholeDataSet:
    """The layout ``beir``: corpus and queries beside the qrels."""

    WHOLE = Content(layout="beir")

    def test_corpus_and_queries_come_with_all_metadata_in_the_order_in_which_they_came(self, tmp_path):
        collection = make_collection(documents=["z", "a"], queries=["q2", "q1"], qrels={("q1", "a"): 1})
        collection.documents.filter(docid="z").update(
            title="T", metadata={"year": 1990, "big": 1e22, "by": [{"name": "é", "born": None}]}
        )
        collection.queries.filter(qid="q2").update(metadata={"narrative": "n", "b": 1})
        export_qrels(collection=collection, out=tmp_path / "out", content=self.WHOLE)
        assert (tmp_path / "out" / "corpus.jsonl").read_text(encoding="utf-8").splitlines() == [
            '{"_id":"z","title":"T","text":"text of z","metadata":'
            '{"big":1e+22,"by":[{"born":null,"name":"é"}],"year":1990}}',
            '{"_id":"a","title":"","text":"text of a","metadata":{}}',
        ]
        assert (tmp_path / "out" / "queries.jsonl").read_text(encoding="utf-8").splitlines() == [
            '{"_id":"q2","text":"query q2","metadata":{"b":1,"narrative":"n"}}',
            '{"_id":"q1","text":"query q1","metadata":{}}',
        ]

    def test_ids_that_only_the_qrels_know_are_in_the_qrels_alone(self, tmp_path):
        collection = make_collection(documents=["d1", "lost"], qrels={("q1", "lost"): 1})
        collection.documents.filter(docid="lost").update(in_corpus=False, text="")
        export_qrels(collection=collection, out=tmp_path / "out", content=self.WHOLE)
        assert rows_of(tmp_path / "out" / "qrels" / "augmented.tsv") == [("q1", "lost", "1")]
        assert b"lost" not in (tmp_path / "out" / "corpus.jsonl").read_bytes()

    def test_the_manifest_has_their_checksums_and_says_the_layout(self, collection, tmp_path):
        manifest = export_qrels(collection=collection, out=tmp_path / "out", content=self.WHOLE).manifest
        assert manifest["layout"] == "beir"
        assert (
            manifest["files"]["corpus.jsonl"]
            == hashlib.sha256((tmp_path / "out" / "corpus.jsonl").read_bytes()).hexdigest()
        )

    def test_without_beir_qrels_it_is_none(self, collection, tmp_path):
        with pytest.raises(UserError, match="--layout beir: expected BEIR qrels with it, found --format trec alone"):
            export_qrels(collection=collection, out=tmp_path / "out", content=Content("beir", formats=["trec"]))

    def test_a_layout_that_there_is_not_is_refused(self, collection, tmp_path):
        with pytest.raises(UserError, match="--layout: expected qrels or beir, found mteb"):
            export_qrels(collection=collection, out=tmp_path / "out", content=Content("mteb"))

    def test_the_first_bytes_come_before_the_texts_are_read(self, collection, django_assert_num_queries):
        with django_assert_num_queries(6):
            _, pieces = export_zip(collection=collection, content=self.WHOLE)
        with django_assert_num_queries(2):
            next(pieces)


class TestZip:
    def test_a_name_that_ends_in_zip_makes_a_zip_that_is_the_download(self, collection, policy, tmp_path):
        out = export_qrels(collection=collection, out=tmp_path / "odd.ZIP", policy=policy).path
        name, pieces = export_zip(collection=collection, policy=policy)
        assert name == "odd-augmented.zip"
        assert out.read_bytes() == b"".join(pieces)
        assert [path.name for path in tmp_path.iterdir()] == ["odd.ZIP"]

    def test_an_earlier_export_is_replaced(self, collection, policy, tmp_path):
        first = export_qrels(collection=collection, out=tmp_path / "odd.zip").path.read_bytes()
        assert export_qrels(collection=collection, out=tmp_path / "odd.zip", policy=policy).path.read_bytes() != first

    @pytest.mark.parametrize("foreign", [b"", b"no zip", "a zip"])
    def test_anything_else_is_not_touched(self, collection, tmp_path, foreign):
        out = tmp_path / "odd.zip"
        if foreign == "a zip":
            with zipfile.ZipFile(out, "w") as archive:
                archive.writestr("odd/manifest.json", '{"software": {"name": "unjudged"}, "files": {}}')
                archive.writestr("odd/mine.txt", "mine")
        else:
            out.write_bytes(foreign)
        before = out.read_bytes()
        with pytest.raises(UserError, match="holds other things than an earlier export"):
            export_qrels(collection=collection, out=out)
        assert out.read_bytes() == before

    def test_an_export_that_fails_leaves_nothing_behind(self, collection, tmp_path):
        collection.documents.filter(docid="nike").update(docid="ni ke")
        with pytest.raises(UserError, match="'ni ke'"):
            export_qrels(collection=collection, out=tmp_path / "odd.zip")
        assert list(tmp_path.iterdir()) == []
