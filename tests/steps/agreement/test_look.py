"""A look at an agreement: any two judges, every scale, and judgments read only where something changed."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.utils import translation

from judging.errors import UserError
from judging.measures.agreement import cohen_kappa
from judging.models import Judge, Judgment
from judging.steps.agree import agreement
from judging.steps.agreement.figures import scales
from judging.steps.agreement.kept import kept, state_of
from judging.steps.agreement.look import Look
from judging.steps.frames import coefficients
from judging.steps.judgments import Said, say
from judging.steps.report import report_of
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

DOCIDS = [f"d{number}" for number in range(6)]


@pytest.fixture
def pool():
    collection = make_collection("holes", documents=DOCIDS, queries=["q1", "q2"])
    return make_pool(collection, make_run(collection, {"q1": DOCIDS[:3], "q2": DOCIDS[3:]}), name="holes", depth=3)


def says(judge, pool, grades):
    for pair, grade in zip(pool.pairs.order_by("best_rank", "query__qid"), grades, strict=True):
        make_judgment(judge, pool.collection, pair.query.qid, pair.document.docid, grade)
    return judge


@pytest.fixture
def judged(pool):
    says(make_person("ada"), pool, [0, 1, 1, 0, 1, 0])
    says(make_person("ben"), pool, [0, 1, 1, 0, 0, 0])
    says(make_llm("one"), pool, [0, 1, 1, 1, 1, 0])
    says(make_llm("two"), pool, [1, 1, 1, 1, 1, 0])
    return pool


def change_mind(pool):
    pair = pool.pairs.first()
    said = Said(outcome="graded", grade=1, seconds=1.0)
    say(judge=judge("ada"), query_id=pair.query_id, document_id=pair.document_id, said=said)


def judge(name):
    return Judge.objects.get(name=name)


class TestTwoJudges:
    def test_by_default_people_with_the_llm_that_has_most_pairs(self, judged):
        look = Look(judged)
        assert (look.summary.side, look.chosen.judge.name) == ("people", "one")
        assert [one.name for one in look.summary.judges] == ["one", "two", "ada", "ben"]

    @pytest.mark.parametrize(("first", "second"), [("ada", "ben"), ("one", "two"), ("ben", "one"), ("two", "ada")])
    def test_any_two_by_themselves(self, judged, first, second):
        look = Look(judged, reference=judge(first).pk, judge=judge(second).pk)
        sheet = look.sheet
        grades = [sheet.answers_of(judge(name).pk).grades for name in (first, second)]
        assert (look.summary.side, look.summary.reference) == ("judge", first)
        assert look.chosen.panel.graded["cohen_kappa"].value == pytest.approx(cohen_kappa(*grades))
        assert look.chosen.panel.pairs == 6

    def test_a_judge_is_never_held_against_itself(self, judged):
        assert [one.judge.name for one in Look(judged, reference=judge("one").pk).summary.llms] == ["two"]
        with pytest.raises(UserError, match="the same one twice"):
            Look(judged, reference=judge("one").pk, judge=judge("one").pk)

    def test_a_judge_of_other_pairs_is_refused(self, judged):
        with pytest.raises(UserError, match="judged none of the pairs"):
            Look(judged, judge=make_llm("stranger").pk)

    def test_what_people_found_is_told_of_people_only(self, judged):
        assert Look(judged).summary.found is not None
        for other in (judge("ada").pk, "qrels"):
            look = Look(judged, reference=other, judge=judge("one").pk)
            assert look.summary.found is None
            assert look.purchases(50) == []
            assert look.estimates().reason == "such means correct an LLM's labels by those of people"

    def test_the_highest_kappa_comes_first(self, judged):
        assert [beside.compared.judge.name for beside in Look(judged).beside()] == ["one", "two"]
        assert [bool(beside.difference) for beside in Look(judged).beside()] == [False, True]

    def test_more_labels_are_planned_for_the_judge_looked_at(self, judged):
        assert {buying.of for buying in Look(judged, judge=judge("two").pk).purchases(50)} == {
            "share relevant",
            "kappa of two",
        }


def test_page_command_report_and_frame_show_the_same_intervals(judged):
    shown = Look(judged).chosen.panel
    report = report_of(judged).judged[0].beside.compared.panel
    printed = io.StringIO()
    call_command("agreement", judged.slug, "--json", stdout=printed)
    (command, _) = json.loads(printed.getvalue())["judges"]
    frame = coefficients(agreement(pool=judged)).set_index(["judge", "on", "coefficient"])
    for name, estimate in shown.graded.items():
        assert repr(report.graded[name]) == repr(estimate)
        low, high = command["graded"][name]["low"], command["graded"][name]["high"]
        assert (low, high) == (estimate.interval.low, estimate.interval.high)
        row = frame.loc["one", "grades", name]
        assert (row["low"], row["high"]) == (low, high)


class TestEveryScale:
    def test_a_binary_scale_has_one_column_and_nothing_twice(self, judged):
        one = Look(judged).chosen
        found = scales(one.panel, one.scale, first="people", second="the LLM")
        assert found.headings == ["Relevant or not"]
        labels = [label for label, _ in found.rows]
        assert "Precision of “relevant”" in labels
        assert "Relevant to people" in labels
        assert "Quadratic kappa" not in labels
        assert all(len(estimates) == 1 and estimates[0] is not None for _, estimates in found.rows)

    def test_a_graded_one_has_every_binarisation_its_own_first(self):
        from judging.formats.scale import default_scale

        collection = make_collection("trec", documents=["d1", "d2"], scale=default_scale(3))
        says_of = {"d1": 3, "d2": 0}
        for who in (make_person(), make_llm()):
            for docid, grade in says_of.items():
                make_judgment(who, collection, "q1", docid, grade)
        one = Look(collection).chosen
        found = scales(one.panel, one.scale, first="people", second="the LLM")
        own = one.scale.relevant_from
        assert found.headings[0] == "All grades"
        assert found.headings[1].endswith(" (relevant or not)")
        assert len(found.headings) == 4
        rows = dict(found.rows)
        assert rows["Linear kappa"][1:] == [None] * 3
        assert rows["Recall of “relevant”"][0] is None
        assert rows["Recall of “relevant”"][1] == one.panel.binary[own]["recall"]


class TestKept:
    def test_the_second_look_reads_no_judgment_of_its_own(self, judged, django_assert_num_queries):
        def look_at_all():
            look = Look(judged)
            return [look.persons(), look.beside(), look.breakdown("length"), look.estimates(), look.purchases(9)]

        first = look_at_all()
        with django_assert_num_queries(5):
            again = look_at_all()
        assert repr(again) == repr(first)

    @pytest.mark.parametrize(
        "change",
        [
            change_mind,
            lambda pool: Judgment.objects.filter(judge__name="one").first().delete(),
            lambda pool: make_judgment(make_llm("three"), pool.collection, "q1", "d0", 1),
            lambda pool: Judge.objects.filter(name="ada").update(name="ada l."),
            lambda pool: pool.pairs.filter(pk=pool.pairs.first().pk).update(inclusion_probability=0.5),
            lambda pool: pool.runs.all().delete(),
            lambda pool: type(pool.collection).objects.update(scale_json=[]),
        ],
        ids=["answer", "deletion", "judge", "name", "weight", "run", "scale"],
    )  # fmt: skip
    def test_the_state_is_another_as_soon_as_something_changes(self, judged, change):
        before = state_of(judged)
        assert state_of(judged) == before
        change(judged)
        judged.refresh_from_db()
        assert state_of(judged) != before

    def test_a_judgment_of_another_collection_changes_nothing(self, judged):
        before = state_of(judged), state_of(judged.collection)
        other = make_collection("other")
        make_judgment(judge("ada"), other, "q1", "d1", 1)
        assert (state_of(judged), state_of(judged.collection)) == before

    def test_nothing_is_kept_too_and_each_language_has_its_own(self, judged):
        made = []
        for language in ("en", "fr", "en"):
            with translation.override(language):
                assert kept(state_of(judged), "x", make=lambda: made.append(1)) is None
        assert len(made) == 2
