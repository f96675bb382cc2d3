"""Counts, first and last records of real collections; grades counted by hand with ``cut | sort | uniq -c``."""

from collections import Counter

import pytest

from judging.formats.beir import BeirFolder
from judging.formats.judgments import read_judgments
from judging.formats.text import digest, is_empty
from judging.formats.trec import read_run
from tests.formats.conftest import DATA

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the real collections are not at {DATA}")


def ends(records):
    return len(records), records[0].id, records[-1].id


@pytest.mark.parametrize(
    ("name", "documents", "queries"),
    [
        ("cranfield", (1_400, "1", "1400"), (225, "1", "225")),
        ("nfcorpus", (3_633, "MED-10", "MED-961"), (3_237, "PLAIN-3", "PLAIN-3472")),
        (
            "arguana",
            (8_674, "test-environment-aeghhgwpe-pro02b", "validation-society-fyhwscdcj-con02b"),
            (1_406, "test-environment-aeghhgwpe-pro02a", "test-society-epsihbdns-con01a"),
        ),
        ("dl19", (19_383, "1017759", "904496"), (43, "1037798", "962179")),
        ("llmjudge", (11_621, "p6285", "p8619"), (50, "q18", "q48")),
    ],
)
def test_documents_and_queries(name, documents, queries):
    folder = BeirFolder(DATA / name)
    assert ends(list(folder.documents())) == documents
    assert ends(list(folder.queries())) == queries


@pytest.mark.parametrize(
    ("name", "split", "first", "last", "queries", "grades"),
    [
        ("cranfield", "test", ("1", "184", 3), ("225", "1213", 2), 225, {1: 363, 2: 734, 3: 387, 4: 128}),
        ("nfcorpus", "dev", ("PLAIN-1", "MED-2421", 2), ("PLAIN-3471", "MED-5342", 2), 324, {1: 10_864, 2: 521}),
        ("nfcorpus", "test", ("PLAIN-2", "MED-2427", 2), ("PLAIN-3472", "MED-3627", 1), 323, {1: 11_758, 2: 576}),
        (
            "arguana",
            "test",
            ("test-environment-aeghhgwpe-pro02a", "test-environment-aeghhgwpe-pro02b", 1),
            ("test-society-epsihbdns-con01a", "test-society-epsihbdns-con01b", 1),
            1_406,
            {1: 1_406},
        ),
        ("dl19", "test", ("19335", "1017759", 0), ("1133167", "977421", 0), 43, {0: 5_158, 1: 1_601, 2: 1_804, 3: 697}),
        ("llmjudge", "test", ("q49", "p3659", 3), ("q9", "p8619", 0), 25, {0: 2_005, 1: 1_233, 2: 808, 3: 377}),
    ],
)
def test_qrels(name, split, first, last, queries, grades):
    warnings = []
    qrels = list(BeirFolder(DATA / name).qrels(split, warn=warnings.append))
    rows = [(qrel.query, qrel.document, qrel.grade) for qrel in qrels]
    assert (rows[0], rows[-1]) == (first, last)
    assert len({qrel.query for qrel in qrels}) == queries
    assert Counter(qrel.grade for qrel in qrels) == grades
    assert warnings == []


def test_cranfield_has_two_empty_documents():
    documents = BeirFolder(DATA / "cranfield").documents()
    assert [document.id for document in documents if is_empty(document.title, document.text)] == ["471", "995"]


def test_arguana_has_documents_of_one_text_under_several_ids():
    documents = list(BeirFolder(DATA / "arguana").documents())
    texts = Counter(digest("", document.text) for document in documents)
    whole = Counter(digest(document.title, document.text) for document in documents)
    assert sum(count > 1 for count in texts.values()) == 109
    assert sum(count > 1 for count in whole.values()) == 48


def test_a_run_of_dl19():
    lines = list(read_run(DATA / "dl19" / "runs" / "BM25.txt.gz"))
    first, last = lines[0], lines[-1]
    assert len(lines) == 4_300
    assert (first.query, first.document, first.rank, first.score) == ("264014", "5611210", 1, 15.780599594116211)
    assert (last.query, last.document, last.rank, last.score) == ("1106007", "6255354", 100, 6.47769021987915)


@pytest.mark.parametrize(
    ("name", "grades"),
    [
        ("willia-umbrela1", {0: 2_335, 1: 1_231, 2: 608, 3: 249}),
        ("RMITIR-llama70B", {0: 2_154, 1: 243, 2: 1_581, 3: 443, 5: 2}),
        ("h2oloo-zeroshot2", {0: 2_920, 1: 771, 2: 476, 3: 255, 10: 1}),
    ],
)
def test_the_labels_of_an_llm(name, grades):
    lines = list(read_judgments(DATA / "llmjudge" / "llm" / f"{name}.txt.gz", warn=[].append))
    assert Counter(line.grade for line in lines) == grades
    assert {line.outcome for line in lines} == {"graded"}
