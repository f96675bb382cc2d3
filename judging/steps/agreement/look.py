"""What a page shows of an agreement, part by part: each part is kept, and judgments are read only where one is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from judging.errors import UserError
from judging.measures.agreement import Ceiling
from judging.measures.calibration import Calibration
from judging.models import Collection, Judge, Pool
from judging.steps.agree import Agreement, agreement_of, sheet_of
from judging.steps.agreement import figures
from judging.steps.agreement.breakdown import Breakdown, breakdown
from judging.steps.agreement.calibrated import calibration
from judging.steps.agreement.compare import Beside, LlmAgreement, Person, compare, each_person, side_by_side
from judging.steps.agreement.estimate import Buying, Estimates, estimates, purchases
from judging.steps.agreement.found import Found
from judging.steps.agreement.kept import kept, state_of
from judging.steps.agreement.sheet import Answers, Sheet
from judging.steps.plots import Plot

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Summary:
    """An agreement without its sheet; the fields are those of ``Agreement``.

    ``side``      who the reference is: ``people``, ``qrels``, or ``judge`` for a single one
    ``judges``    everybody who can be compared: LLMs, then people
    """

    side: str
    reference: str
    found: Found | None
    llms: Sequence[LlmAgreement]
    people: Ceiling | None
    annotators: int
    assisted: int
    is_weighted: bool
    judges: Sequence[Judge]


class Look:
    """One look at the agreement of two judges of a pool or a collection; ``clip`` as in ``sheet_of``.

    ``reference`` is ``people``, ``qrels``, the primary key of a judge, or None for what ``sheet_of`` takes.
    ``judge`` is the primary key of the judge that is looked at, None for the LLM with most pairs. Raises UserError for
    a judge who judged none of the pairs, or who is the reference.
    """

    def __init__(
        self, of: Pool | Collection, *, reference: str | int | None = None, clip: bool = False, judge: int | None = None
    ) -> None:
        self.of = of
        self._reference = reference
        self._clip = clip
        self._state = state_of(of)
        self.chosen = self._chosen(judge)

    @property
    def pool(self) -> Pool | None:
        return self.of if isinstance(self.of, Pool) else None

    @property
    def collection(self) -> Collection:
        return self.of.collection if isinstance(self.of, Pool) else self.of

    @cached_property
    def sheet(self) -> Sheet:
        collection = self.of if isinstance(self.of, Collection) else None
        one = self._reference if isinstance(self._reference, int) else None
        named = self._reference if isinstance(self._reference, str) else None
        sheet = sheet_of(pool=self.pool, collection=collection, reference=named, clip=self._clip)
        return sheet if one is None else sheet.held_against(sheet.answers_of(one))

    @cached_property
    def summary(self) -> Summary:
        return self._kept("summary", make=lambda: _summary(agreement_of(self.sheet)))

    @property
    def answers(self) -> Answers:
        """Of the judge that is looked at."""
        return self.sheet.answers_of(self._judge)

    def persons(self) -> Sequence[Person]:
        if self.summary.annotators < 2:
            return []
        return self._kept("persons", make=lambda: each_person(self.sheet))

    def purchases(self, labels: int) -> Sequence[Buying]:
        llms = [self._judge] if self.chosen and self.chosen.judge.kind == Judge.Kind.LLM else []

        def make() -> Sequence[Buying]:
            return purchases(self.sheet, labels, llms=[self.sheet.answers_of(pk) for pk in llms])

        return self._kept("purchases", labels, *llms, make=make)

    def beside(self) -> Sequence[Beside]:
        """Every LLM, the highest kappa first, each with its paired difference to the judge that is looked at."""
        assert self.chosen is not None
        first = self.chosen.judge
        llms = sorted(self.summary.llms, key=_by_kappa)
        return self._kept("beside", self._judge, make=lambda: side_by_side(self.sheet, llms, first))

    def breakdown(self, by: str) -> Breakdown:
        return self._kept("breakdown", self._judge, by, make=lambda: breakdown(self.sheet, self.answers, by))

    def calibration(self) -> Calibration | None:
        return self._kept("calibration", self._judge, make=lambda: calibration(self.sheet, self.answers))

    def estimates(self) -> Estimates:
        return self._kept("estimates", self._judge, make=lambda: estimates(self.sheet, self.answers))

    def plot(self, name: str, *, by: str) -> Plot | None:
        """``coefficients``, ``judges``, ``breakdown`` or ``calibration``; None where there is nothing to draw."""
        summary, chosen = self.summary, self.chosen
        if chosen is None:
            return None
        match name:
            case "coefficients":
                return figures.coefficients_plot(chosen, summary.people, summary.reference)
            case "judges" if len(summary.llms) > 1:
                ranked = [beside.compared for beside in self.beside()]
                return figures.judges_plot(ranked, summary.people, summary.reference)
            case "breakdown":
                parts = self.breakdown(by)
                return figures.breakdown_plot(parts) if parts.groups else None
            case "calibration":
                found = self.calibration()
                return figures.calibration_plot(found, chosen.judge.name) if found and found.pairs else None
        return None

    def _chosen(self, judge: int | None) -> LlmAgreement | None:
        llms = self.summary.llms
        if judge is None:
            return max(llms, key=lambda one: one.panel.pairs, default=None)
        if judge == self._reference:
            raise UserError("Two different judges can be compared; found the same one twice.")
        found = next((one for one in llms if one.judge.pk == judge), None)
        return found or self._kept("compared", judge, make=lambda: compare(self.sheet, self.sheet.answers_of(judge)))

    @property
    def _judge(self) -> int:
        assert self.chosen is not None
        return self.chosen.judge.pk

    def _kept(self, *what: object, make: Callable[[], T]) -> T:
        return kept(self._state, self._reference, self._clip, *what, make=make)


def _by_kappa(one: LlmAgreement) -> tuple[bool, float, str]:
    kappa = one.panel.graded["cohen_kappa"].value
    return kappa != kappa, -kappa, one.judge.name


def _summary(result: Agreement) -> Summary:
    reference = result.sheet.reference
    return Summary(
        side="judge" if reference.judge else reference.name,
        reference=result.reference,
        found=result.found,
        llms=result.llms,
        people=result.people,
        annotators=result.annotators,
        assisted=result.assisted,
        is_weighted=result.sheet.weights is not None,
        judges=[answers.judge for answers in (*result.sheet.llms, *result.sheet.people)],
    )
