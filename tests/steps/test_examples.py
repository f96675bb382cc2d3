"""A prompt's examples are not what is judged."""

from __future__ import annotations

import pytest

from judging.engines.llm import parse_prompt
from judging.errors import UserError
from judging.models import Judgment
from judging.steps.examples import refuse_known_pairs
from judging.steps.prefill import judge_pool
from tests.factories import make_collection, make_pool, make_run
from tests.steps.test_prefill import Reader

pytestmark = pytest.mark.django_db

LONG = " ".join(f"word{n}" for n in range(40))
DOCUMENTS = {
    "pooled": "Robert Gray sailed around the world for the first time.",
    "judged": "Lift is a force: " + LONG,
    "elsewhere": "A boundary layer forms along the surface of a wing.",
    "tiny": "Gray.",
}


@pytest.fixture
def pool():
    collection = make_collection(
        "cran", documents=DOCUMENTS, queries={"q1": "who is robert gray", "q2": "what is lift"},
        qrels={("q2", "judged"): 1, ("q1", "tiny"): 1},
    )  # fmt: skip
    return make_pool(collection, make_run(collection, {"q1": ["pooled"]}), name="holes", depth=1)


def prompt_with(*examples: tuple[str, str], instructions: str = "Judge."):
    turns = "".join(f"[user]\nQuestion: {query}\n\n{document}\n[assistant]\n1\n" for query, document in examples)
    source = "examples: written by hand\n" if examples else ""
    return parse_prompt(
        f"name: mine\nmode: score\nfields: query, document\nscale: any\n{source}---\n[system]\n{instructions}\n{turns}"
        "[user]\n{query} {document} {scale}\n",
        "mine",
    )


INVENTED = ("how long does the kiln cool", "Orrin has three kilns, and the oldest burns wood.")


def test_invented_examples_are_fine(pool):
    refuse_known_pairs(prompt=prompt_with(INVENTED), pool=pool)


def test_a_pair_of_the_pool_is_named_with_its_example(pool):
    prompt = prompt_with(
        INVENTED, ("WHO is\n Robert  Gray?", '"Robert Gray sailed around the world, for the first time"')
    )
    with pytest.raises(UserError) as refused:
        refuse_known_pairs(prompt=prompt, pool=pool)
    assert str(refused.value).startswith(
        "Example 2 of the prompt 'mine' is the query 'q1' with the document 'pooled', a pair of the pool holes: "
    )


def test_a_part_of_a_document_of_the_qrels_is_enough(pool):
    excerpt = "… " + " ".join(LONG.split()[8:20])
    with pytest.raises(UserError, match=r"Example 1 .* 'q2' with the document 'judged', a pair of the qrels of cran"):
        refuse_known_pairs(prompt=prompt_with(("what is lift", excerpt)), pool=pool)
    refuse_known_pairs(prompt=prompt_with(("what is lift", " ".join(LONG.split()[8:19]))), pool=pool)


def test_an_example_without_a_section_of_its_own_is_found_too(pool):
    hidden = f"Such as: what is lift? {DOCUMENTS['judged']} Answer: 1"
    with pytest.raises(UserError, match="The text of the prompt 'mine' is the query 'q2'"):
        refuse_known_pairs(prompt=prompt_with(instructions=hidden), pool=pool)


@pytest.mark.parametrize(
    "example",
    [
        ("who is robert gray", DOCUMENTS["elsewhere"]),  # no pair of the pool or the qrels
        ("who is robert gray-smith", DOCUMENTS["judged"]),  # a pair of another query
        ("who is robert gray", "Gray. Another text"),  # too short to tell
    ],
)
def test_what_is_no_pair_is_no_matter(pool, example):
    refuse_known_pairs(prompt=prompt_with(example), pool=pool)


def test_work_does_not_start_with_such_an_example(pool):
    llm = Reader()
    llm.prompt = prompt_with(("who is robert gray", DOCUMENTS["pooled"]))
    with pytest.raises(UserError, match="would give the answer away"):
        judge_pool(llm=llm, pool=pool)
    assert (llm.asked, Judgment.objects.filter(judge__kind="llm").count()) == ([], 0)
