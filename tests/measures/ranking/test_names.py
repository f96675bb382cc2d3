import ir_measures
import pytest

from judging.errors import UserError
from judging.measures.ranking import Measure, parse_measure

NAMES = ["nDCG", "nDCG@10", "P@5", "P(rel=2)@10", "R@100", "RR", "RR(rel=2)@10", "AP", "AP(rel=2)", "Bpref"]


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_prints_the_name_that_ir_measures_prints(name):
    assert str(parse_measure(name)) == str(ir_measures.parse_measure(name)) == name


@pytest.mark.parametrize("name", ["RBP(p=0.8)", "RBP(p=0.5,rel=2)@10", "judged@10"])
def test_a_name_survives_being_parsed_and_printed(name):
    assert str(parse_measure(name)) == name


def test_parameters_become_fields():
    assert parse_measure("RBP( p=0.5, rel=2 )@10") == Measure("RBP", cutoff=10, rel=2, p=0.5)


def test_upper_and_lower_case_are_alike():
    assert [str(parse_measure(name)) for name in ("ndcg@10", "bpref", "Judged@5")] == ["nDCG@10", "Bpref", "judged@5"]


def test_the_default_relevance_cut_is_not_printed():
    assert str(parse_measure("AP(rel=1)")) == "AP"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ERR@10", "no measure of that name"),
        ("", "no measure of that name"),
        ("nDCG@10@5", "no measure of that name"),
        ("P", "P needs a cut-off"),
        ("judged", "judged needs a cut-off"),
        ("nDCG@0", "cut-off of at least 1"),
        ("Bpref@10", "Bpref takes no cut-off"),
        ("nDCG(rel=2)@10", "nDCG has no parameter 'rel'"),
        ("P(rel=two)@10", "'two' is no value for rel"),
        ("RBP(p=1.5)", "p must lie between 0 and 1"),
        ("RBP(p=nan)", "p must lie between 0 and 1"),
    ],
)
def test_an_unknown_name_is_refused_and_the_existing_ones_are_listed(name, problem):
    with pytest.raises(UserError) as refused:
        parse_measure(name)

    assert problem in str(refused.value)
    assert all(existing in str(refused.value) for existing in ("nDCG@10", "AP", "judged@10"))
