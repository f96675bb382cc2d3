"""A sentence with numbers in it is a string that remembers its parts."""

import copy
import pickle

from judging.measures.sentence import Sentence

SENTENCE = Sentence("%(lost)s of %(all)s, 5 %%", lost=3, all="ten")


def test_it_is_the_sentence_itself():
    assert SENTENCE == "3 of ten, 5 %"
    assert f"{SENTENCE}." == "3 of ten, 5 %."


def test_it_remembers_the_template_and_the_values():
    assert SENTENCE.template == "%(lost)s of %(all)s, 5 %%"
    assert SENTENCE.values == {"lost": "3", "all": "ten"}


def test_it_is_the_same_when_kept_and_copied():
    for again in (pickle.loads(pickle.dumps(SENTENCE)), copy.copy(SENTENCE), copy.deepcopy(SENTENCE)):
        assert (again, again.template, again.values) == (SENTENCE, SENTENCE.template, SENTENCE.values)
