from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from judging.management.base import StepCommand, between, count, number
from judging.steps import lookup
from judging.steps.calibrate import CalibrationReport, calibrate
from judging.steps.quality.thresholds import CRITERIA

VERDICTS = {
    "gain": "It agrees better with people than before, beyond chance.",
    "loss": "It agrees less with people than before: keep the judge as it was.",
    "open": "Whether it agrees better than before cannot be told from chance with these labels.",
}
NAMES = {
    "cohen_kappa": "Cohen's kappa",
    "quadratic_kappa": "quadratic kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
}


class Command(StepCommand):
    help = (
        "Fit thresholds on an LLM's expected grade to what people say of a pool, and keep the calibrated judge that "
        "they make, with a fingerprint of its own. Queries with labels are cut at thresholds that were fitted without "
        "them. The same labels make the same judge."
    )
    example = 'llm_calibrate nfcorpus-holes --judge "Phi-3-mini-4k-instruct pointwise"'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--judge", required=True, metavar="NAME", help="the LLM judge, by name or the start of its fingerprint"
        )
        parser.add_argument(
            "--criterion", choices=CRITERIA, default=CRITERIA[0],
            help="the coefficient that thresholds make as large as it goes (default: Cohen's kappa)",
        )  # fmt: skip

    def run(self, **options: Any) -> None:
        report = calibrate(
            pool=lookup.pool(options["pool"]),
            judge=lookup.llm_judge(options["judge"]),
            criterion=options["criterion"],
        )
        self._say(report)
        self.say(f"next: python manage.py agreement {options['pool']}")

    def _say(self, report: CalibrationReport) -> None:
        found = report.thresholds
        points, gain, name = found.points, found.gain, NAMES[found.criterion]
        made = "made" if report.is_new else "was made of these labels before"
        self.say(
            f"{report.judge.label}: {made}; {count(report.changed, 'judgment')} new or changed",
            f"  fitted to {count(found.labels, 'label')} of people on {count(found.queries, 'query', 'queries')}, "
            f"cross-validated in {found.folds} folds of whole queries, seed {found.seed}",
            f"  thresholds on the expected grade: {_numbers(points.cuts)}; without one fold each: "
            + "; ".join(_numbers(cuts) for cuts in points.by_fold),
            f"  {name} with people: {number(gain.second)} before, {number(gain.first)} after, on queries that the "
            f"thresholds do not know: gain {number(gain.difference.value)} "
            f"(95 % interval {between(gain.difference.interval)})",
            f"  on the very labels of the fit it would be {number(points.fitted)}, which overstates",
            f"  {VERDICTS[found.verdict]}",
        )


def _numbers(cuts: Iterable[float]) -> str:
    return ", ".join(number(cut) for cut in cuts)
