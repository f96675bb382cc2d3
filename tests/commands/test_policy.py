"""The options that say which judgments enter the augmented qrels."""

from __future__ import annotations

from argparse import ArgumentParser

import pytest

from judging.errors import UserError
from judging.management.policy import add_policy_arguments, policy_of
from judging.steps.merge import Policy
from tests.factories import make_llm

pytestmark = pytest.mark.django_db


def policy(*arguments):
    parser = ArgumentParser()
    add_policy_arguments(parser)
    return policy_of(vars(parser.parse_args(arguments)))


def test_without_options_it_is_the_default():
    assert policy() == Policy()


def test_llms_enter_in_the_order_in_which_they_are_named():
    phi, other = make_llm("phi"), make_llm("other")
    assert policy("--llm", "other", "--llm", "phi") == Policy(llm=(other, phi))


def test_duplicates_can_be_left_out():
    assert policy("--no-expand-duplicates") == Policy(duplicates=False)
    assert policy("--expand-duplicates") == policy() == Policy(duplicates=True)


def test_an_llm_that_is_not_there_is_answered_with_those_that_are():
    phi = make_llm("phi")
    with pytest.raises(UserError, match=phi.fingerprint[:8]):
        policy("--llm", "nobody")
