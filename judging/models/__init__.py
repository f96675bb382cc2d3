"""What is kept, one file a subject."""

from judging.models.collection import Collection, Document, Query
from judging.models.judge import Judge, fingerprint_of
from judging.models.judgment import Judgment, JudgmentEvent, Outcome
from judging.models.lease import LeaseState
from judging.models.pool import Assignment, Pair, Pool, PrefillTask, Skip
from judging.models.run import Hit, Run

__all__ = [
    "Assignment",
    "Collection",
    "Document",
    "Hit",
    "Judge",
    "Judgment",
    "JudgmentEvent",
    "LeaseState",
    "Outcome",
    "Pair",
    "Pool",
    "PrefillTask",
    "Query",
    "Run",
    "Skip",
    "fingerprint_of",
]
