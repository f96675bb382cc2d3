"""Out and in again: what is exported is a collection that everybody's tools load, and gives the same bytes again."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import ir_measures
import pandas
import pytest
import pytrec_eval
from ir_measures import AP, RR, P, R, nDCG

from judging.models import Collection
from judging.steps.evaluate import compare
from judging.steps.export import export_qrels, export_zip
from judging.steps.export_files import Content
from judging.steps.import_collection import import_beir
from judging.steps.import_run import import_run
from judging.steps.merge import Policy, merge
from judging.steps.tables import rankings
from tests.conftest import DATA, SAMPLE
from tests.factories import make_judgment, make_llm, make_person

pytestmark = pytest.mark.django_db

MEASURES = [nDCG @ 10, P @ 10, R @ 100, RR, AP]

BEIR = Content(layout="beir")
WHOLE = Content(layout="beir", formats=None, judgments=("jsonl", "csv", "parquet"))

real = [
    pytest.param(name, marks=pytest.mark.skipif(not DATA.is_dir(), reason=f"the real collections are not at {DATA}"))
    for name in ("cranfield", "arguana", "nfcorpus", "llmjudge")
]


def loaded(name: str) -> Collection:
    return import_beir(path=SAMPLE if name == "sample" else DATA / name).collection


def judged_some_more(collection: Collection) -> Policy:
    """People and an LLM grade a few documents, also some that are judged already."""
    ada, ben, llm = make_person("ada"), make_person("ben"), make_llm("phi")
    docids = list(collection.documents.filter(in_corpus=True).order_by("pk").values_list("docid", flat=True)[:6])
    for qid in collection.queries.filter(in_corpus=True).order_by("pk").values_list("qid", flat=True)[:5]:
        for number, docid in enumerate(docids):
            make_judgment(ada, collection, qid, docid, number % 2, comment="=1+1", seconds=2.5)
            make_judgment(ben, collection, qid, docid, number % 3 % 2)
            make_judgment(llm, collection, qid, docid, 1, raw="1", probabilities={"0": 0.25, "1": 0.75})
    return Policy(llm=(llm,))


def unpacked(zipped: bytes, folder: Path) -> Path:
    """The folder inside the zip."""
    folder.mkdir()
    (folder / "data.zip").write_bytes(zipped)
    with zipfile.ZipFile(folder / "data.zip") as archive:
        archive.extractall(folder)
    (folder / "data.zip").unlink()
    (inside,) = folder.iterdir()
    return inside


def data_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("corpus.jsonl", "queries.jsonl", "qrels/augmented.tsv")}


def beir_loader(folder: Path, split: str) -> tuple[dict, dict, dict]:
    """As GenericDataLoader of beir 2 loads a folder: the queries that have judgments, grades as ``int``."""
    corpus, queries, qrels = {}, {}, {}
    with (folder / "corpus.jsonl").open(encoding="utf8") as file:
        for line in file:
            row = json.loads(line)
            corpus[row.get("_id")] = {"text": row.get("text"), "title": row.get("title")}
    with (folder / "queries.jsonl").open(encoding="utf8") as file:
        for line in file:
            row = json.loads(line)
            queries[row.get("_id")] = row.get("text")
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(reader)
        for query, document, score in reader:
            qrels.setdefault(query, {})[document] = int(score)
    return corpus, {query: queries[query] for query in qrels if query in queries}, qrels


@pytest.mark.parametrize("name", ["sample", *real])
def test_an_export_is_a_collection_that_gives_the_same_bytes_when_it_is_exported_again(name, tmp_path):
    collection = loaded(name)
    policy = judged_some_more(collection)
    first = export_qrels(collection=collection, out=tmp_path / "first", policy=policy, content=BEIR).path
    again = import_beir(path=first, name="again")
    assert again.collection.splits == ["augmented"]
    assert again.documents == collection.documents.filter(in_corpus=True).count()
    # A grade that was left out of the first for a tie, or came from an LLM, would now be copied to its duplicates.
    as_it_is = Policy(duplicates=False)
    second = export_qrels(collection=again.collection, out=tmp_path / "second.zip", policy=as_it_is, content=BEIR).path
    assert data_of(unpacked(second.read_bytes(), tmp_path / "second")) == data_of(first)
    assert import_beir(path=tmp_path / "second" / "again-augmented", name="again").unchanged
    zipped = b"".join(export_zip(collection=again.collection, policy=as_it_is, content=BEIR)[1])
    assert zipped == second.read_bytes()


@pytest.mark.parametrize("name", ["sample", real[0], real[-1]])
def test_beirs_loader_and_pandas_read_what_the_collection_holds(name, tmp_path):
    collection = loaded(name)
    policy = judged_some_more(collection)
    zipped = b"".join(export_zip(collection=collection, policy=policy, content=WHOLE)[1])
    folder = unpacked(zipped, tmp_path / "out")
    expected = merge(collection=collection, policy=policy).qrels
    corpus, queries, qrels = beir_loader(folder, "augmented")
    assert qrels == expected
    rows = collection.documents.filter(in_corpus=True).values_list("docid", "title", "text")
    assert corpus == {docid: {"title": title, "text": text} for docid, title, text in rows}
    assert queries == dict(collection.queries.filter(in_corpus=True, qid__in=expected).values_list("qid", "text"))
    frame = pandas.read_csv(folder / "qrels" / "augmented.tsv", sep="\t", dtype={"query-id": str, "corpus-id": str})
    assert {q: dict(zip(g["corpus-id"], g["score"], strict=True)) for q, g in frame.groupby("query-id")} == expected
    judgments = [
        pandas.read_json(folder / "judgments.jsonl", lines=True),
        pandas.read_csv(folder / "judgments.csv"),
        pandas.read_parquet(folder / "judgments.parquet"),
    ]
    assert [len(one) for one in judgments] == [90, 90, 90]
    assert [one["grade"].sum() for one in judgments] == [judgments[0]["grade"].sum()] * 3
    assert set(judgments[1]["comment"].dropna()) == {"'=1+1"}
    assert set(judgments[2]["comment"]) == {"", "=1+1"}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the real collections are not at {DATA}")
def test_measures_of_the_exported_files_are_those_shown_here(tmp_path):
    collection = loaded("dl19")
    policy = judged_some_more(collection)
    for file in sorted((DATA / "dl19" / "runs").iterdir())[:3]:
        import_run(collection=collection, path=file)
    folder = export_qrels(collection=collection, out=tmp_path / "out", policy=policy).path
    ours = compare(collection=collection, measures=[str(measure) for measure in MEASURES], policy=policy)
    with (folder / "qrels.trec").open(encoding="utf-8") as stream:
        by_trec_eval = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(stream), {"ndcg_cut.10", "map"})
    for row in ours.runs:
        run = {q: {d: -float(n) for n, d in enumerate(ds)} for q, ds in rankings(row.run).items()}
        qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.trec")))
        found = ir_measures.calc_aggregate(MEASURES, qrels, run)
        shown = {measure: row.after[str(measure)].mean for measure in MEASURES}
        assert shown == pytest.approx(found, abs=1e-6)
        values = by_trec_eval.evaluate(run).values()
        assert sum(one["ndcg_cut_10"] for one in values) / len(values) == pytest.approx(shown[nDCG @ 10], abs=1e-6)
        assert sum(one["map"] for one in values) / len(values) == pytest.approx(shown[AP], abs=1e-6)
