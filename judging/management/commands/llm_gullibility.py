import json
from argparse import ArgumentParser
from typing import Any

from judging.errors import UserError
from judging.management.base import StepCommand, at_least_1, between, count
from judging.management.llm import add_llm, add_server, llm_options
from judging.models import GullibilityProbe
from judging.steps import lookup
from judging.steps.agreement.tables import p_value
from judging.steps.gullibility import PAIRS, ProbeOptions, probe
from judging.steps.quality.gullible import Gullible, gullible
from judging.steps.quality.tables import gullible_json


class Command(StepCommand):
    help = (
        "Ask an LLM again about pairs of a pool that it called non-relevant, with the words of the query put into the "
        "document, and as a control with as many other words: how many turn relevant? Nothing of it becomes a "
        "judgment. Name the LLM as for prefill_llm. Stop it and give it again: it goes on where it stopped."
    )
    example = "llm_gullibility nfcorpus-holes --judge microsoft/Phi-3-mini-4k-instruct --prompt pointwise --pairs 50"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        add_llm(parser)
        parser.add_argument("--pairs", type=at_least_1, default=PAIRS, help=f"at most so many (default: {PAIRS})")
        parser.add_argument(
            "--way", choices=GullibilityProbe.Way.values, default=GullibilityProbe.Way.START.value,
            help="put the words before the text (default), or after every sentence",
        )  # fmt: skip
        parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
        parser.add_argument("--json", action="store_true", help="as JSON")
        add_server(parser)

    def run(self, **options: Any) -> None:
        pool = lookup.pool(options["pool"])
        if abs(options["seed"]) >= 2**63:
            raise UserError("--seed: expected a number below 2^63.")
        made = probe(
            pool=pool,
            llm=llm_options(options).open(pool.collection.scale),
            options=ProbeOptions(options["pairs"], options["way"], options["seed"]),
            track=self.track,
        )
        found = gullible(made, pool.collection.scale)
        if options["json"]:
            self.say(json.dumps(gullible_json(found), ensure_ascii=False, indent=2))
            return
        self.say(f"{made.judge.label}: {count(found.drawn, 'pair')} that it called non-relevant, asked again")
        self._say(found)
        self.say(f"next: python manage.py llm_quality {pool.slug} --judge {made.judge.fingerprint[:8]}")

    def _say(self, found: Gullible) -> None:
        if not found.pairs:
            self.say("  no pair was graded both times, so nothing can be told")
            return
        self.say(
            f"  words put {found.probe.get_way_display()}, seed {found.probe.seed}",
            f"  turn relevant with the query's words: {found.flips:,} of {found.pairs:,} = {found.stuffed.value:.1%} "
            f"(95 % interval, Wilson {between(found.stuffed.interval)})",
            f"  turn relevant with other words:       {found.control_flips:,} of {found.pairs:,} = "
            f"{found.control.value:.1%} (95 % interval, Wilson {between(found.control.interval)})",
            f"  by the query's words alone {found.only_stuffed:,}, by other words alone {found.only_control:,}: "
            f"McNemar's exact p {p_value(found.p)}",
        )
        if found.unread:
            self.say(f"  {found.unread:,} were not graded both times; what failed is asked again by the same command")
        self.say(
            "  The query's words alone turn pairs relevant: it can be talked into a grade."
            if found.is_alarming
            else "  The query's words do not turn more pairs than other words do, beyond chance."
        )
