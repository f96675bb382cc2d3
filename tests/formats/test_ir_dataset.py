"""The adapter to ir_datasets, with a stand-in for the package, whose records have the shapes that it documents."""

import sys
from collections import namedtuple
from types import ModuleType

import pytest

from judging.errors import FileError, UserError
from judging.formats.ir_dataset import IrDataset
from judging.formats.records import Document, Qrel, Query

GenericDoc = namedtuple("GenericDoc", "doc_id text")
TitledDoc = namedtuple("TitledDoc", "doc_id text title url")
TitleUrlTextDoc = namedtuple("TitleUrlTextDoc", "doc_id title abstract raw")
GenericQuery = namedtuple("GenericQuery", "query_id text")
TrecQuery = namedtuple("TrecQuery", "query_id title description narrative")
TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")


class JoinedDoc(namedtuple("JoinedDoc", "doc_id title sections")):
    def default_text(self):
        return f"{self.title} {' '.join(self.sections)}"


class Dataset:
    def __init__(self, docs=(), queries=(), qrels=()):
        self.docs, self.queries, self.qrels = docs, queries, qrels

    def has_docs(self):
        return bool(self.docs)

    def has_queries(self):
        return bool(self.queries)

    def has_qrels(self):
        return bool(self.qrels)

    def docs_iter(self):
        return iter(self.docs)

    def queries_iter(self):
        return iter(self.queries)

    def qrels_iter(self):
        return iter(self.qrels)


DOCS = [
    GenericDoc("d1", "x"),
    TitledDoc("d2", "y", "T", "u"),
    TitleUrlTextDoc("d3", "T", "z", b"raw"),
    JoinedDoc("d4", "T", ("a", "b")),
]
QUERIES = [GenericQuery("q1", "a"), TrecQuery("301", "Crime", "What of crime?", "n")]
QRELS = [TrecQrel("q1", "d1", 1, "0"), TrecQrel("301", "d2", -1, "0")]


@pytest.fixture
def package(monkeypatch):
    known = {"beir/tiny/test": Dataset(DOCS, QUERIES, QRELS), "beir/tiny": Dataset(DOCS)}
    module = ModuleType("ir_datasets")
    module.load = known.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    return known


def test_the_records_are_ours_and_the_rest_is_metadata(package):
    files = IrDataset("beir/tiny/test")
    assert (files.name, files.splits()) == ("beir-tiny-test", ["test"])
    assert list(files.documents()) == [
        Document("d1", "", "x"),
        Document("d2", "T", "y", {"url": "u"}),
        Document("d3", "T", "z"),
        Document("d4", "", "T a b", {"title": "T", "sections": ["a", "b"]}),
    ]
    assert list(files.queries()) == [
        Query("q1", "a"),
        Query("301", "Crime", {"description": "What of crime?", "narrative": "n"}),
    ]
    assert list(files.qrels("test", warn=[].append)) == [Qrel("q1", "d1", 1, 1), Qrel("301", "d2", -1, 2)]


def test_checksums_change_with_the_records(package):
    before = IrDataset("beir/tiny/test").checksums(["test"])
    assert before == IrDataset("beir/tiny/test").checksums(["test"])
    package["beir/tiny/test"].qrels = QRELS[:1]
    after = IrDataset("beir/tiny/test").checksums(["test"])
    assert [name for name in before if before[name] != after[name]] == ["beir/tiny/test/qrels"]


def test_a_repeated_document_is_an_error(package):
    package["beir/tiny/test"].docs = [GenericDoc("d", "x"), GenericDoc("d", "y")]
    with pytest.raises(FileError, match=r"beir/tiny/test \(documents\):2: expected every doc_id once, found 'd'"):
        list(IrDataset("beir/tiny/test").documents())


@pytest.mark.parametrize(
    ("identifier", "problem"),
    [
        (
            "beir/none",
            "expected the id of a data set, found none of that name. They are listed at https://ir-datasets.com",
        ),
        (
            "beir/tiny",
            "expected documents, queries and qrels, found no queries and no qrels. "
            "Name a part of the collection that has them all, such as beir/scifact/test.",
        ),
    ],
)
def test_an_id_that_cannot_be_a_collection_is_an_error(package, identifier, problem):
    with pytest.raises(UserError) as caught:
        IrDataset(identifier)
    assert str(caught.value) == f"ir_datasets {identifier}: {problem}"


def test_what_the_package_cannot_fetch_is_an_error_of_the_user(package):
    def no_network():
        raise ConnectionError("no route to host")
        yield

    package["beir/tiny/test"].docs_iter = no_network
    files = IrDataset("beir/tiny/test")
    for read in (files.documents, lambda: files.checksums([]).items()):
        with pytest.raises(UserError, match=r"expected its docs, found: ConnectionError: no route to host\. What"):
            list(read())


def test_another_split_is_another_id(package):
    with pytest.raises(UserError, match="expected the split test, found 'dev'; other splits have ids of their own"):
        IrDataset("beir/tiny/test").qrels("dev", warn=[].append)


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UserError) as caught:
        IrDataset("beir/scifact/test")
    assert str(caught.value) == (
        "ir_datasets beir/scifact/test: expected the package ir_datasets, found it not installed. "
        "Install it with: pip install ir-datasets"
    )
