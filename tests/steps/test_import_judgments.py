"""Labels made elsewhere come in under a judge of their own."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from judging.errors import FileError, UserError
from judging.formats.scale import default_scale
from judging.models import Assignment, Document, Judge, Judgment, JudgmentEvent, LeaseState
from judging.steps import serve
from judging.steps.import_collection import import_beir
from judging.steps.import_judgments import import_judgments
from judging.steps.judgments import Said
from judging.steps.merge import merge
from judging.steps.pace import found_so_far
from tests.conftest import DATA, SAMPLE
from tests.factories import make_collection, make_judgment, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(
        documents=["d1", "d2", "d3"], queries=["q1", "q2"], qrels={("q2", "d3"): 1}, scale=default_scale(2)
    )


@pytest.fixture
def write(tmp_path):
    """Writes lines; a mapping becomes a JSON object."""

    def write(*lines, name="labels.jsonl"):
        file = tmp_path / name
        file.write_text("".join(f"{json.dumps(x) if isinstance(x, dict) else x}\n" for x in lines), encoding="utf-8")
        return file

    return write


def label(document="d1", grade=1, *, query="q1", **more):
    return {"query": query, "document": document, **({} if grade is None else {"grade": grade}), **more}


def imported(collection, file, *, judge="ada", kind="person", **options):
    return import_judgments(collection=collection, path=file, judge=judge, kind=kind, **options)


def said(judge):
    rows = judge.judgments.values_list("query__qid", "document__docid", "outcome", "grade")
    return {(query, document): outcome if grade is None else grade for query, document, outcome, grade in rows}


def history(judge, docid="d1"):
    events = JudgmentEvent.objects.filter(judgment__judge=judge, judgment__document__docid=docid)
    return list(events.values_list("grade", flat=True))


class TestForms:
    def test_json_lines_with_all_that_they_hold(self, collection, write):
        more = {
            "probabilities": {"0": 0.25, "1": 0.75},
            "raw": "Yes.",
            "comment": "sure",
            "seconds": 1.5,
            "assisted": True,
        }
        judge = imported(collection, write(label(**more))).judge
        judgment = judge.judgments.get()
        assert (judgment.outcome, judgment.grade, judgment.probabilities) == ("graded", 1, more["probabilities"])
        assert (judgment.raw, judgment.comment, judgment.seconds, judgment.assisted) == ("Yes.", "sure", 1.5, True)

    @pytest.mark.parametrize(
        ("name", "lines"),
        [
            ("labels.txt", ["q1 0 d1 1", "q1 0 d2 0"]),
            ("labels.tsv", ["query-id\tcorpus-id\tscore", "q1\td1\t1", "q1\td2\t0"]),
            ("headless.tsv", ["q1\td1\t1", "q1\td2\t0"]),
            ("labels.jsonl", [label("d1", 1), label("d2", 0)]),
        ],
    )
    def test_each_form_of_file_gives_the_same_judgments(self, collection, write, name, lines):
        report = imported(collection, write(*lines, name=name))
        assert said(report.judge) == {("q1", "d1"): 1, ("q1", "d2"): 0}
        assert report.outcomes == Counter(graded=2)

    @pytest.mark.parametrize("outcome", ["cannot_judge", "unparsed", "failed", "out_of_scale"])
    def test_a_reason_why_there_is_no_grade_stays_one(self, collection, write, outcome):
        report = imported(collection, write(label(grade=None, outcome=outcome)))
        assert said(report.judge) == {("q1", "d1"): outcome}

    @pytest.mark.parametrize("grade", [3, 10, -1])
    def test_a_grade_outside_the_scale_is_kept_as_that_and_never_as_a_grade(self, collection, write, grade):
        report = imported(collection, write(label(grade=grade), label("d2", 2)))
        assert said(report.judge) == {("q1", "d1"): "out_of_scale", ("q1", "d2"): 2}
        assert report.judge.judgments.get(document__docid="d1").raw == str(grade)
        assert report.outcomes == Counter(graded=1, out_of_scale=1)

    def test_the_raw_answer_of_such_a_grade_stays_as_it_was(self, collection, write):
        judge = imported(collection, write(label(grade=9, raw="Score: 9"))).judge
        assert judge.judgments.get().raw == "Score: 9"

    def test_a_grade_that_the_file_itself_calls_out_of_scale_is_kept_in_the_raw_answer(self, collection, write):
        judge = imported(collection, write(label(grade=7, outcome="out_of_scale"))).judge
        assert judge.judgments.get().raw == "7"

    def test_queries_that_the_collection_lacks_are_left_out_and_counted(self, collection, write):
        report = imported(collection, write(label(), label(query="z"), label("d2", query="z")))
        assert (said(report.judge), report.left_out) == ({("q1", "d1"): 1}, 2)

    def test_documents_that_the_corpus_lacks_are_kept_by_their_id(self, collection, write):
        report = imported(collection, write(label("new")))
        assert said(report.judge) == {("q1", "new"): 1}
        assert Document.objects.get(docid="new").in_corpus is False

    def test_a_file_without_any_query_of_the_collection_is_an_error(self, collection, write):
        with pytest.raises(FileError, match="expected judgments of queries of"):
            imported(collection, write(label(query="z")))
        assert not Judge.objects.filter(kind="person").exists()

    @pytest.mark.parametrize(
        "bad",
        [
            '{"query": "q1"',
            label("d2", 0.5),
            label("d2", None),
            label("d1", 0),
            '{"query": "q1", "document": "\\u0000"}',
        ],
    )
    def test_a_bad_line_is_named_and_nothing_is_kept(self, collection, write, bad):
        with pytest.raises(FileError, match=r"labels\.jsonl:2: expected"):
            imported(collection, write(label(), bad, label("d3")))
        assert not Judgment.objects.by_people().exists()
        assert not Judge.objects.filter(kind="person").exists()

    def test_a_line_that_says_again_what_an_earlier_one_said_is_a_warning(self, collection, write):
        report = imported(collection, write(label(), label()))
        assert report.outcomes == Counter(graded=1)
        assert "line 2 repeats line 1" in report.warnings[0]

    @pytest.mark.parametrize("kind", ["qrels", "robot", ""])
    def test_only_what_people_llms_and_adjudicators_said_is_imported(self, collection, write, kind):
        with pytest.raises(UserError, match="expected one of llm, person, adjudication"):
            imported(collection, write(label()), kind=kind)

    def test_one_judge_of_a_file_of_several_can_be_picked(self, collection, write):
        file = write(label(judge="ada", kind="person"), label(grade=0, judge="ben", kind="person"))
        with pytest.raises(FileError, match="one judge"):
            imported(collection, file)
        assert said(imported(collection, file, judge="ben", only="ben").judge) == {("q1", "d1"): 0}

    def test_the_sample_labels_load(self):
        sample = import_beir(path=SAMPLE).collection
        report = imported(sample, SAMPLE / "people" / "ada.jsonl")
        assert report.outcomes == Counter(graded=172)

    @pytest.mark.skipif(not (DATA / "llmjudge").exists(), reason=f"the real collections are not in {DATA}")
    def test_real_labels_of_an_llm_load(self):
        real = import_beir(path=DATA / "llmjudge").collection
        file = min((DATA / "llmjudge" / "llm").iterdir())
        report = imported(real, file, judge=file.stem, kind="llm")
        assert report.outcomes.total() == report.judge.judgments.count() > 1_000

    def test_the_times_that_a_file_states_are_kept(self, collection, write):
        first, last = "2020-01-02T03:04:05.678901+00:00", "2021-06-07T08:09:10+00:00"
        lines = [label("d1", created_at=first, updated_at=last), label("d2", updated_at=last), label("d3")]
        judge = imported(collection, write(*lines)).judge
        times = dict(judge.judgments.values_list("document__docid", "created_at"))
        assert [times[docid].isoformat() for docid in ("d1", "d2")] == [first, last]
        assert times["d3"] > times["d2"]
        assert [
            time.isoformat() for time in judge.judgments.order_by("updated_at").values_list("updated_at", flat=True)
        ][:2] == [last, last]

    def test_a_replaced_label_of_the_same_time_is_seen_at_once_on_the_page_of_its_pool(self, collection, write):
        pool = make_pool(collection)
        at = "2021-06-07T08:09:10+00:00"
        shares = []
        for grade in (2, 0):
            imported(collection, write(label("d1", grade, updated_at=at)), replace=True)
            shares.append(found_so_far(pool).share.value)
        assert shares == [1, 0]

    def test_replacing_without_times_keeps_when_a_judgment_was_first_made(self, collection, write):
        first = "2020-01-02T03:04:05.678901+00:00"
        imported(collection, write(label("d1", created_at=first)))
        judge = imported(collection, write(label("d1", 0)), replace=True).judge
        judgment = judge.judgments.get()
        assert judgment.created_at.isoformat() == first
        assert judgment.updated_at > judgment.created_at


class TestHistory:
    def test_each_judgment_begins_one(self, collection, write):
        judge = imported(collection, write(label(), label("d2", None, outcome="cannot_judge", comment="cut off"))).judge
        assert history(judge) == [1]
        event = JudgmentEvent.objects.get(judgment__document__docid="d2", judgment__judge=judge)
        assert (event.outcome, event.grade, event.comment) == ("cannot_judge", None, "cut off")

    def test_replacing_goes_on_with_it(self, collection, write):
        judge = imported(collection, write(label(), label("d2"))).judge
        imported(collection, write(label(grade=0), label("d2")), replace=True)
        assert (history(judge, "d1"), history(judge, "d2")) == ([1, 0], [1])


class TestAgain:
    def test_the_same_labels_change_nothing(self, collection, write):
        file = write(label(), label("d2", 9))
        first = imported(collection, file)
        rows = set(Judgment.objects.values_list("pk", "updated_at"))
        second = imported(collection, file)
        assert (first.unchanged, second.unchanged) == (False, True)
        assert set(Judgment.objects.values_list("pk", "updated_at")) == rows
        assert JudgmentEvent.objects.count() == 2

    @pytest.mark.parametrize(
        "other", [label(grade=0), label(comment="but"), label("d2"), label(grade=None, outcome="failed")]
    )
    def test_other_labels_need_replace(self, collection, write, other):
        judge = imported(collection, write(label())).judge
        with pytest.raises(UserError, match=r"'ada' has 1 judgments .* --replace"):
            imported(collection, write(other))
        assert (said(judge), history(judge)) == ({("q1", "d1"): 1}, [1])

    def test_the_refusal_says_what_would_change(self, collection, write):
        imported(collection, write(label("d1"), label("d2"), label("d3")))
        with pytest.raises(UserError, match=r"What would change: 1 added, 1 changed, 2 removed\. Give --replace"):
            imported(collection, write(label("d1", 0), label("d2", query="q2")))

    def test_a_file_that_only_lacks_some_changes_nothing_and_says_how_many(self, collection, write):
        judge = imported(collection, write(label("d1"), label("d2"))).judge
        report = imported(collection, write(label("d2")))
        assert (report.unchanged, report.beyond) == (True, 1)
        assert said(judge) == {("q1", "d1"): 1, ("q1", "d2"): 1}

    def test_a_refused_file_leaves_no_document_behind(self, collection, write):
        imported(collection, write(label("d1")))
        with pytest.raises(UserError, match="--replace"):
            imported(collection, write(label("d1"), label("new")))
        assert not Document.objects.filter(docid="new").exists()

    def test_replacing_takes_what_the_file_lacks_away(self, collection, write):
        judge = imported(collection, write(label(), label("d2"))).judge
        imported(collection, write(label("d2", 0), label("d3")), replace=True)
        assert said(judge) == {("q1", "d2"): 0, ("q1", "d3"): 1}

    def test_it_leaves_other_collections_and_other_judges_alone(self, collection, write):
        elsewhere = make_collection(documents=["d1"])
        judge = imported(elsewhere, write(label())).judge
        ben = imported(collection, write(label()), judge="ben").judge
        assert imported(collection, write(label(grade=0)), replace=True).judge == judge
        assert sorted(judge.judgments.values_list("grade", flat=True)) == [0, 1]
        assert said(ben) == {("q1", "d1"): 1}


class TestLlm:
    def test_another_configuration_is_another_judge(self, collection, write):
        judges = {
            imported(
                collection, write(label(grade=grade)), judge="phi", kind="llm", configuration={"prompt": prompt}
            ).judge.pk
            for prompt, grade in [("a", 1), ("b", 0)]
        }
        assert len(judges) == 2
        assert sorted(Judgment.objects.filter(judge__in=judges).values_list("grade", flat=True)) == [0, 1]

    def test_the_same_configuration_is_the_same_judge(self, collection, write):
        one, other = (
            imported(collection, write(label()), judge="phi", kind="llm", configuration=configuration)
            for configuration in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
        )
        assert (one.judge, other.unchanged) == (other.judge, True)
        assert one.judge.configuration == {"a": 1, "b": 2}

    def test_without_a_configuration_the_file_stands_for_it(self, collection, write):
        first = imported(collection, write(label()), judge="phi", kind="llm").judge
        assert imported(collection, write(label()), judge="phi", kind="llm").judge == first
        second = imported(collection, write(label(grade=0)), judge="phi", kind="llm").judge
        assert first != second
        assert (said(first), said(second)) == ({("q1", "d1"): 1}, {("q1", "d1"): 0})

    def test_its_labels_fill_no_slot(self, collection, write):
        make_pool(collection)
        assert imported(collection, write(label()), judge="phi", kind="llm").filled_slots == 0
        assert not Assignment.objects.exclude(state=LeaseState.FREE).exists()


class TestPeople:
    @pytest.fixture
    def pool(self, collection):
        return make_pool(collection, make_run(collection, {"q1": ["d1", "d2", "d3"]}), depth=3, people=2)

    def slots(self, judge):
        return sorted(Assignment.objects.filter(annotator=judge).values_list("pair__document__docid", "slot", "state"))

    def test_their_labels_fill_the_slots_of_pools(self, collection, pool, write):
        report = imported(collection, write(label("d1"), label("d3", 0), label("d2", query="q2")))
        assert report.filled_slots == 2
        assert self.slots(report.judge) == [("d1", 1, "done"), ("d3", 1, "done")]

    def test_two_people_fill_two_slots_and_a_third_none(self, collection, pool, write):
        reports = [imported(collection, write(label("d1")), judge=name) for name in ("ada", "ben", "eve")]
        assert [self.slots(report.judge) for report in reports] == [[("d1", 1, "done")], [("d1", 2, "done")], []]
        assert [report.filled_slots for report in reports] == [1, 1, 0]

    def test_they_are_not_asked_again(self, collection, pool, write):
        person = make_person("ada")
        assert imported(collection, write(label("d1"), label("d2"))).judge == person
        assert serve.next_pair(pool=pool, annotator=person).document.docid == "d3"

    def test_what_they_have_in_hand_and_the_file_has_judged_is_done(self, collection, pool, write):
        person = make_person("ada")
        serve.next_pair(pool=pool, annotator=person)
        imported(collection, write(label("d1")))
        assert self.slots(person) == [("d1", 1, "done")]

    def test_replacing_frees_slots_and_fills_others(self, collection, pool, write):
        judge = imported(collection, write(label("d1"), label("d2"))).judge
        report = imported(collection, write(label("d2", 0), label("d3")), replace=True)
        assert self.slots(judge) == [("d2", 1, "done"), ("d3", 1, "done")]
        assert report.filled_slots == 2
        free = Assignment.objects.filter(state=LeaseState.FREE).values_list("pair__document__docid", flat=True)
        assert Counter(free) == Counter({"d1": 2, "d2": 1, "d3": 1})

    def test_a_slot_that_is_freed_goes_to_whoever_had_said_it_too(self, collection, pool, write):
        for name in ("ada", "ben", "eve"):
            imported(collection, write(label("d1")), judge=name)
        imported(collection, write(label("d2")), judge="ada", replace=True)
        holders = Assignment.objects.filter(pair__document__docid="d1").values_list("annotator__name", flat=True)
        assert set(holders) == {"ben", "eve"}

    def test_what_was_answered_in_the_browser_is_not_replaced_unasked(self, collection, pool, write):
        person = make_person("ada")
        pair = serve.next_pair(pool=pool, annotator=person)
        serve.answer(pair=pair, annotator=person, said=Said(outcome="graded", grade=2))
        with pytest.raises(UserError, match="--replace"):
            imported(collection, write(label("d1", 0)))
        assert said(person) == {("q1", "d1"): 2}
        imported(collection, write(label("d1", 0)), replace=True)
        assert (said(person), history(person)) == ({("q1", "d1"): 0}, [2, 0])

    def test_labels_imported_before_the_account_existed_are_its_own(self, collection, write):
        judge = imported(collection, write(label())).judge
        assert make_person("ada") == judge

    def test_original_judgments_stay_as_they_are(self, collection, write):
        imported(collection, write(label("d3", 0, query="q2")))
        assert Judgment.objects.original(collection).get().grade == 1

    def test_a_name_that_is_too_long_is_refused(self, collection, write):
        with pytest.raises(UserError, match="200 characters"):
            imported(collection, write(label()), judge="n" * 201)

    def test_a_judgment_given_elsewhere_and_imported_alike_is_unchanged(self, collection, write):
        make_judgment(make_person("ada"), collection, "q1", "d1", 1)
        assert imported(collection, write(label())).unchanged is True


class TestAdjudications:
    def test_they_come_under_a_judge_of_their_own_and_the_merge_takes_them(self, collection, write):
        for grade in (0, 1):
            make_judgment(make_person(), collection, "q1", "d1", grade)
        report = imported(collection, write(label(grade=2)), judge="panel", kind="adjudication")
        assert (report.judge.kind, report.judge.fingerprint, report.filled_slots) == ("adjudication", "", 0)
        merged = {(row.query, row.document): (row.grade, row.source) for row in merge(collection=collection).grades}
        assert merged["q1", "d1"] == (2, "adjudicated")

    def test_the_same_file_again_changes_nothing_and_another_needs_replace(self, collection, write):
        file = write(label(grade=2))
        imported(collection, file, judge="panel", kind="adjudication")
        assert imported(collection, file, judge="panel", kind="adjudication").unchanged
        other = write(label(grade=0), name="other.jsonl")
        with pytest.raises(UserError, match="--replace"):
            imported(collection, other, judge="panel", kind="adjudication")
        report = imported(collection, other, judge="panel", kind="adjudication", replace=True)
        assert said(report.judge) == {("q1", "d1"): 0}
        assert history(report.judge) == [2, 0]
