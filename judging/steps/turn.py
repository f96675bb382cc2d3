"""What a person is asked next: a training pair, a pair of the pool, or one of their own pairs again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from judging.models import Document, Judge, Judgment, Pair, Pool, Probe, Query, TrainingPair
from judging.steps import probes, serve, standing, training
from judging.steps.judgments import Said


@dataclass(frozen=True, slots=True)
class Turn:
    """One question. ``probe`` is given where ``pair`` is asked again; ``training`` where it is no pair of the pool.

    ``was_held`` says that the person had the pair in hand before this turn, so that nothing new was leased to them.
    """

    pair: Pair | None = None
    probe: Probe | None = None
    training: TrainingPair | None = None
    was_held: bool = field(default=False, compare=False)

    @classmethod
    def again(cls, probe: Probe) -> Turn:
        return cls(pair=probe.pair, probe=probe)

    @property
    def query(self) -> Query:
        return self._asked.query

    @property
    def document(self) -> Document:
        return self._asked.document

    @property
    def _asked(self) -> Pair | TrainingPair:
        asked = self.training or self.pair
        assert asked is not None
        return asked


def next_turn(*, pool: Pool, annotator: Judge) -> Turn | None:
    """What comes next, leased to the person; None when there is nothing for them now.

    Training comes before the first lease. Pairs are asked again between queries, or when nothing else is left.

    Raises: PoolNotOpenError.
    """
    if pair := serve.in_hand(pool=pool, annotator=annotator):
        return Turn(pair, was_held=True)
    if probe := probes.due(pool=pool, annotator=annotator):
        return Turn.again(probe)
    if first := training.next_pair(pool=pool, annotator=annotator):
        return Turn(training=first)
    if pair := serve.take_query(pool=pool, annotator=annotator):
        return Turn(pair)
    if probe := probes.due(pool=pool, annotator=annotator, nothing_else=True):
        return Turn.again(probe)
    return None


def previous_turn(*, pool: Pool, annotator: Judge, before: Turn | None = None) -> Turn | None:
    """What the person answered just before this, in the order in which they answered.

    Seen from what is not answered yet, or from nothing, that is what they answered last. The training lies before all
    else; what they said there stays, and its feedback can be read again.
    """
    if before and before.training:
        return _previous_training(pool, annotator, before.training)
    time = _answered_at(before, annotator) if before else None
    slot = standing.previous_pair(pool=pool, annotator=annotator, before=time)
    probe = probes.previous(pool=pool, annotator=annotator, before=time)
    if probe and probe.answered_at and (not slot or not slot.answered_at or probe.answered_at > slot.answered_at):
        return Turn.again(probe)
    return Turn(slot.pair) if slot else _previous_training(pool, annotator)


def _previous_training(pool: Pool, annotator: Judge, before: TrainingPair | None = None) -> Turn | None:
    pair = training.previous(pool=pool, annotator=annotator, before=before)
    return Turn(training=pair) if pair else None


def _answered_at(turn: Turn, annotator: Judge) -> datetime | None:
    if turn.probe:
        return turn.probe.answered_at
    return standing.answered_at(pair=turn.pair, annotator=annotator) if turn.pair else None


def answer(*, pair: Pair, annotator: Judge, said: Said) -> Judgment | Probe:
    """Take an answer for what the form asked: the pair, or by the form's key the pair once more.

    Raises: as ``serve.answer``.
    """
    if (probe := probes.of_key(pair=pair, annotator=annotator, key=said.key)) is None:
        return serve.answer(pair=pair, annotator=annotator, said=said)
    serve.require_open(pair.pool)
    serve.require_grade(pair.pool, said)
    return probes.answer(probe=probe, said=said)


def skip(*, pair: Pair, annotator: Judge, key: UUID | None) -> None:
    """Put off what the form asked; it comes again when nothing else is left.

    Raises: PoolNotOpenError.
    """
    if (probe := probes.of_key(pair=pair, annotator=annotator, key=key)) is None:
        serve.skip(pair=pair, annotator=annotator)
        return
    serve.require_open(pair.pool)
    probes.put_off(probe=probe)


def answer_training(*, pair: TrainingPair, annotator: Judge, said: Said) -> None:
    """Keep what a person says of a training pair; their first answer counts.

    Raises: PoolNotOpenError, UserError for a grade outside the scale.
    """
    serve.require_open(pair.pool)
    serve.require_grade(pair.pool, said)
    training.answer(pair=pair, annotator=annotator, said=said)
