from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand, between, count, number
from judging.measures.agreement import Comparison
from judging.measures.intervals import Estimate
from judging.steps import lookup
from judging.steps.agree import Agreement, LlmAgreement, agreement

ROWS = {
    "raw_agreement": "raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "quadratic_kappa": "quadratic kappa",
    "krippendorff_alpha": "Krippendorff's alpha, ordinal",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic",
    "bias": "mean grade difference, LLM − people",
}


class Command(StepCommand):
    help = (
        "Tell how people and LLMs agree on the pairs of a pool, and how many of the unjudged documents are relevant. "
        "Intervals resample whole queries."
    )
    example = "agreement nfcorpus-holes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")

    def run(self, **options: Any) -> None:
        result = agreement(pool=lookup.pool(options["pool"]))
        self._found(result)
        for llm in result.llms:
            self._llm(llm, result)
        if not result.llms:
            self.say("", f"No LLM has judged pairs of this pool: python manage.py prefill_llm {result.pool.slug}")
        if result.people:
            self.say("", f"People with people: {count(result.people.pairs, 'pair')} judged by two or more")
            self._coefficients(result.people)

    def _found(self, result: Agreement) -> None:
        found = result.found
        self.say(
            f"{result.pool.slug}: {found.judged:,} of {count(found.pairs, 'pair')} judged by people",
            f"  relevant among the unjudged: {found.relevant:,} = {_percent(found.share)}",
        )
        if found.judged:
            self.say(
                f"  that implies about {found.implied:,.0f} in the whole pool, beside {found.known:,} known positives "
                f"of its {count(found.queries, 'query', 'queries')}"
            )
        if found.undecided or found.cannot_judge:
            self.say(f"  left out: {found.undecided:,} people undecided, {found.cannot_judge:,} nobody could judge")

    def _llm(self, llm: LlmAgreement, result: Agreement) -> None:
        self.say("", f"People with {llm.judge.label}: {count(llm.panel.pairs, 'pair')} judged by both")
        if llm.left_out:
            self.say("  left out: " + ", ".join(f"{number:,} {why}" for why, number in sorted(llm.left_out.items())))
        self._coefficients(llm.panel)
        scale = result.pool.collection.scale
        self.say("")
        self.table(
            ["people \\ LLM", *(scale.word(grade) for grade in llm.panel.grades)],
            (
                [scale.word(grade), *(f"{cell:g}" for cell in row)]
                for grade, row in zip(llm.panel.grades, llm.counts, strict=True)
            ),
        )

    def _coefficients(self, compared: Comparison) -> None:
        graded = {key: label for key, label in ROWS.items() if len(compared.grades) > 2 or key not in _GRADED_ONLY}
        self.table(
            ["", "value", "95 % interval"],
            (
                [f"  {label}", number(compared.graded[key].value), _interval(compared.graded[key])]
                for key, label in graded.items()
            ),
        )


# On two grades these say the same as their plain forms.
_GRADED_ONLY = frozenset({"quadratic_kappa", "gwet_ac2"})


def _interval(estimate: Estimate) -> str:
    return estimate.reason or (estimate.interval.reason if estimate.interval else "") or between(estimate.interval)


def _percent(share: Estimate) -> str:
    if share.reason:
        return f"undefined ({share.reason})"
    interval = share.interval
    beside = f"95 % interval {between(interval)}" if interval and not interval.reason else "interval undefined"
    return f"{share.value:.1%} ({beside})"
