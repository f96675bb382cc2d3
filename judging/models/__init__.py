"""What is kept, one file a subject."""

from judging.models.collection import Collection, Document, Query
from judging.models.gullibility import GullibilityProbe
from judging.models.invitation import Invitation
from judging.models.judge import Judge, fingerprint_of
from judging.models.judgment import Judgment, JudgmentEvent, Outcome
from judging.models.lease import LeaseState
from judging.models.pool import Assignment, Pair, Pool, Skip
from judging.models.prefill import First, PrefillJob, PrefillTask
from judging.models.probe import Probe
from judging.models.prompt import StoredPrompt
from judging.models.run import Hit, Run
from judging.models.training import TrainingAnswer, TrainingPair

__all__ = [
    "Assignment",
    "Collection",
    "Document",
    "First",
    "GullibilityProbe",
    "Hit",
    "Invitation",
    "Judge",
    "Judgment",
    "JudgmentEvent",
    "LeaseState",
    "Outcome",
    "Pair",
    "Pool",
    "PrefillJob",
    "PrefillTask",
    "Probe",
    "Query",
    "Run",
    "Skip",
    "StoredPrompt",
    "TrainingAnswer",
    "TrainingPair",
    "fingerprint_of",
]
