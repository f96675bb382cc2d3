import json
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from judging.errors import UserError
from judging.management.base import StepCommand, between, count, number
from judging.management.outcomes import in_words
from judging.measures.intervals import Estimate
from judging.models import Judge, Pool
from judging.steps import lookup
from judging.steps.quality.content import Quality, Said, llms_of, quality_of
from judging.steps.quality.counts import OUTSIDE_BOUND
from judging.steps.quality.tables import as_json

_COEFFICIENTS = {
    "raw_agreement": "raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "quadratic_kappa": "quadratic kappa",
    "gwet_ac1": "Gwet's AC1",
}


class Command(StepCommand):
    help = (
        "Tell how far an LLM's judgments of a pool can be trusted: alarms first, then what it said beside what people "
        "said, its agreement with people, and whether its probabilities mean what they say."
    )
    example = 'llm_quality nfcorpus-holes --judge "Phi-3-mini-4k-instruct pointwise"'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--judge", metavar="NAME",
            help="the LLM judge, by name or the start of its fingerprint; not needed where the pool has only one",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", help="everything, as JSON")

    def run(self, **options: Any) -> None:
        pool = lookup.pool(options["pool"])
        quality = quality_of(pool, lookup.llm_judge(options["judge"]) if options["judge"] else _only(pool))
        if options["json"]:
            self.say(json.dumps(as_json(quality), ensure_ascii=False, indent=2))
            return
        self.say(f"{quality.judge.label} on {pool.slug}")
        for alarm in quality.alarms:
            self.say(f"! {alarm.sentence}")
        if quality.said is None:
            self.say(f"It has judged no pair of this pool: python manage.py {quality.command}")
            return
        if not quality.alarms:
            self.say("No alarm.")
        if not quality.said.order.is_upright:
            self.say("Whether its grades rise where people's do is not known.")
        self._said(quality, quality.said)
        for probe in quality.probes:
            self.say(
                "",
                f"asked again with the query's words put {probe.probe.get_way_display()}: {probe.flips:,} of "
                f"{count(probe.pairs, 'non-relevant pair')} turn relevant; with other words {probe.control_flips:,}; "
                f"McNemar's exact p = {probe.p:.4f}",
            )
        self._thresholds(quality, quality.said)

    def _said(self, quality: Quality, said: Said) -> None:
        cut = f"; {said.truncated:,} to a document that was cut" if said.truncated else ""
        self.say(
            "",
            f"{said.asked:,} of {count(quality.pairs, 'pair')} answered ({in_words(Counter(said.outcomes))}){cut}",
            "",
        )
        self.table(
            ["grade", "LLM", "people", "LLM, all of its own", "people, all of theirs"],
            (
                [
                    f"  {one.word}",
                    _share(one.judge_both, one.judge_both_share),
                    _share(one.people_both, one.people_both_share),
                    _share(one.judge_all, one.judge_all_share),
                    _share(one.people_all, one.people_all_share),
                ]
                for one in said.grades
            ),
        )
        panel = said.compared.panel
        self.say("", f"with people, on {count(panel.pairs, 'pair')} that both graded")
        self.table(
            ["", "value", "95 % interval"],
            [
                *(
                    _row(label, panel.graded[name])
                    for name, label in _COEFFICIENTS.items()
                    if name != "quadratic_kappa" or not said.compared.scale.is_binary
                ),
                _row("correlation of grades", said.order.grades),
                *([_row("correlation of expected grades", said.order.expected)] if said.outside is not None else []),
            ],
        )
        self._probabilities(said)

    def _probabilities(self, said: Said) -> None:
        if said.outside is None:
            self.say("", "It gave no probabilities, so there is nothing to say of their calibration.")
            return
        outside = said.outside
        self.say(
            "",
            f"probability outside the scale: median {number(outside.median)}, most {number(outside.most)}; above "
            f"{OUTSIDE_BOUND:g} in {outside.above.value:.1%} of the answers",
        )
        found = said.calibration
        if found is None or not found.pairs:
            self.say("No pair has both a probability and an answer by people.")
            return
        self.table(
            [f"probability of relevant, {len(found.bins)} equal bins", "value", "95 % interval"],
            [
                _row("expected calibration error", found.expected_error),
                ["  the same by chance alone", number(found.error_by_chance), ""],
                _row("Brier score", found.brier),
                ["  Brier score of a constant", number(found.brier_constant), ""],
                _row("claimed more than found", found.bias),
            ],
        )

    def _thresholds(self, quality: Quality, said: Said) -> None:
        found = said.thresholds
        if found is None:
            self.say("", f"Calibrating: {said.no_thresholds}")
            return
        gain = found.gain
        self.say(
            "",
            f"Calibrated on {count(found.labels, 'label')}, its kappa would go from {number(gain.second)} to "
            f"{number(gain.first)} (cross-validated; gain {number(gain.difference.value)}, 95 % interval "
            f"{between(gain.difference.interval)}):",
            f"  python manage.py llm_calibrate {quality.pool.slug} --judge {quality.judge.fingerprint[:8]}",
        )


def _only(pool: Pool) -> Judge:
    found = llms_of(pool)
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(
            f"Several LLMs have judged {pool.slug}; say which with --judge: " + ", ".join(j.label for j in found)
        )
    raise UserError(f"No LLM has judged pairs of {pool.slug}: python manage.py prefill_llm {pool.slug}")


def _row(label: str, estimate: Estimate) -> list[str]:
    interval = estimate.interval
    beside = estimate.reason or (interval.reason if interval else "") or between(interval)
    return [f"  {label}", number(estimate.value), beside]


def _share(how_many: int, share: float) -> str:
    return "none" if share != share else f"{how_many:,} ({share:.0%})"
