from argparse import ArgumentParser
from typing import Any

from judging.engines.llm import DEFAULT_MODEL, DEFAULT_PROMPT
from judging.management.base import StepCommand, at_least_1, count
from judging.models import Outcome
from judging.steps import lookup
from judging.steps.prefill import PrefillOptions, prefill


class Command(StepCommand):
    help = (
        "Have an LLM judge the pairs of a pool. Any causal model with a chat template, by hub id, folder or GGUF file. "
        "Stop it and give it again: it goes on where it stopped; start it several times: the workers share the pairs."
    )
    example = "prefill_llm nfcorpus-holes --judge microsoft/Phi-3-mini-4k-instruct --prompt pointwise"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--judge", default=DEFAULT_MODEL, metavar="MODEL", help=f"the model (default: {DEFAULT_MODEL})"
        )
        parser.add_argument(
            "--prompt",
            default=DEFAULT_PROMPT,
            help=f"name of a prompt or path of a prompt file (default: {DEFAULT_PROMPT})",
        )
        parser.add_argument("--revision", help="commit or tag of the model on the hub")
        parser.add_argument("--dtype", default="auto", choices=["auto", "float32", "bfloat16"])
        parser.add_argument("--limit", type=at_least_1, help="stop after so many pairs")
        parser.add_argument("--retry-failed", action="store_true", help="try pairs once more that were kept as failed")

    def run(self, **options: Any) -> None:
        report = prefill(
            pool=lookup.pool(options["pool"]),
            options=PrefillOptions(
                model=options["judge"],
                prompt=options["prompt"],
                revision=options["revision"],
                dtype=options["dtype"],
                limit=options["limit"],
                retry_failed=options["retry_failed"],
            ),
            track=self.track,
        )
        outcomes = ", ".join(
            f"{Outcome(outcome).label} {number:,}" for outcome, number in sorted(report.outcomes.items())
        )
        self.say(
            f"{report.judge.label}: {count(report.outcomes.total(), 'pair')} judged"
            + (f" ({outcomes})" if outcomes else "")
        )
        if report.already:
            self.say(f"  {report.already:,} were judged before")
        if report.held_by_others:
            self.say(f"  {report.held_by_others:,} are in the hands of other workers")
        self.say(f"next: python manage.py agreement {options['pool']}")
