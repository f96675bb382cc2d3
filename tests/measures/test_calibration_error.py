from math import isnan

import numpy as np
import pytest

from judging.measures.calibration import calibrate


def judged(seed, *, claims=0.0, queries=40, pairs=8):
    """Probabilities that mean what they say, but for what is claimed on top."""
    random = np.random.default_rng(seed)
    truth = random.beta(0.7, 0.7, queries * pairs) * (1 - claims)
    return truth + claims, (random.random(truth.size) < truth).astype(float), np.arange(truth.size) // pairs


def errors(claims, samples=40):
    found = []
    for seed in range(samples):
        said, true, queries = judged(seed, claims=claims)
        found.append(calibrate(said, true, clusters=queries, resamples=300))
    return found


def test_the_interval_of_a_judge_that_means_what_it_says_holds_0():
    found = errors(0.0)

    assert all(one.expected_error.value > 0 for one in found)
    assert np.mean([one.expected_error.interval.low == 0 for one in found]) >= 0.9
    # What chance makes is known: the errors of judges that have none.
    by_chance = np.mean([one.error_by_chance for one in found])
    assert by_chance == pytest.approx(np.mean([one.expected_error.value for one in found]), rel=0.2)


def test_the_interval_of_a_judge_that_claims_too_much_holds_by_how_much():
    found = errors(0.2)

    holds = [one.expected_error.interval.low <= 0.2 <= one.expected_error.interval.high for one in found]
    assert np.mean(holds) >= 0.85
    assert np.mean([one.expected_error.interval.low > 0 for one in found]) > 0.8


def test_the_same_seed_gives_the_same_interval():
    said, true, queries = judged(1)

    assert (
        calibrate(said, true, clusters=queries).expected_error == calibrate(said, true, clusters=queries).expected_error
    )


def test_without_clusters_or_with_one_there_is_no_interval():
    said, true, _ = judged(1)
    plain = calibrate(said, true)
    one = calibrate(said, true, clusters=np.zeros(said.size))

    assert plain.expected_error.interval is None
    assert one.expected_error.interval.reason == "only one query"
    assert isnan(plain.error_by_chance)
    assert isnan(one.error_by_chance)
    assert plain.expected_error.value == pytest.approx(one.expected_error.value)


def test_without_a_pair_it_says_why():
    none = calibrate([0.5, None], [None, 1], clusters=[0, 1]).expected_error

    assert none.reason == none.interval.reason == "no pair has a probability and an answer by people"
