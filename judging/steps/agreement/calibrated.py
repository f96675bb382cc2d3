"""Whether an LLM's probabilities mean what they say, on the pairs of a sheet."""

from __future__ import annotations

import numpy as np

from judging.measures.calibration import Calibration, calibrate
from judging.steps.agreement.sheet import Answers, Sheet


def calibration(sheet: Sheet, answers: Answers) -> Calibration | None:
    """The judge's probability of "relevant" against the reference; None for a judge that gave none."""
    if np.isnan(answers.probability).all():
        return None
    relevant = sheet.relevance(sheet.reference.grades)
    return calibrate(answers.probability, relevant, clusters=sheet.queries, sample_weight=sheet.weights)
