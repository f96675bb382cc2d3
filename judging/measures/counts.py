"""Shares and differences of counts of independent observations: Wilson's interval and McNemar's exact test."""

from __future__ import annotations

from math import comb, nan, sqrt

from judging.measures.intervals import NORMAL_QUANTILE, Estimate, Interval, undefined

NOTHING_COUNTED = "nothing was counted"


def wilson(successes: int, of: int) -> Estimate:
    """The share with Wilson's 95 % score interval, which holds up where the share is near 0 or 1 or ``of`` is small.

    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    """
    if not 0 <= successes <= of:
        raise ValueError(f"Expected 0 to {of} successes; found {successes}.")
    if not of:
        return Estimate(nan, NOTHING_COUNTED, undefined(NOTHING_COUNTED))
    share, weight = successes / of, NORMAL_QUANTILE**2 / of
    middle = (share + weight / 2) / (1 + weight)
    half = NORMAL_QUANTILE * sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    # At the ends rounding would leave the interval a hair beside the share.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == of else middle + half
    return Estimate(share, "", Interval(low, high))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p that, of pairs of observations that differ, either kind is as likely; 1 where none differs.

    McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12, 1947.
    """
    differing, fewer = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(comb(differing, k) for k in range(fewer + 1)) / (1 << differing))
