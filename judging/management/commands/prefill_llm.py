from argparse import ArgumentParser
from typing import Any

from judging.engines.llm import Prices
from judging.management.base import StepCommand, at_least_1, count
from judging.management.llm import above_0, add_llm, add_server, llm_options
from judging.management.outcomes import OutcomeTrack, in_words
from judging.management.stopping import stoppable
from judging.models import First
from judging.steps import lookup
from judging.steps.prefill import Order, PrefillOptions, PrefillReport, prefill
from judging.steps.preview import preview


class Command(StepCommand):
    help = (
        "Have an LLM judge the pairs of a pool. Any causal model with a chat template, by hub id, folder or GGUF file, "
        "or one behind a server that speaks OpenAI's chat completions (vLLM, llama.cpp, Ollama, or a hosted one: "
        "--judge gpt-4.1-mini --server https://api.openai.com/v1 --key-variable OPENAI_API_KEY). "
        "Stop it and give it again: it goes on where it stopped; start it several times: the workers share the pairs."
    )
    example = "prefill_llm nfcorpus-holes --judge microsoft/Phi-3-mini-4k-instruct --prompt pointwise"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        add_llm(parser)
        parser.add_argument("--limit", type=at_least_1, help="stop after so many pairs")
        parser.add_argument("--retry-failed", action="store_true", help="try pairs once more that were kept as failed")
        parser.add_argument(
            "--first",
            default=First.QUERIES.value,
            choices=First.values,
            help="which pairs come first: whole queries as people get them (default), those that people judged, those "
            "of which another LLM was least certain, or the best ranked of all queries",
        )
        parser.add_argument("--uncertain-judge", metavar="LLM", help="whose uncertainty --first uncertain goes by")
        parser.add_argument("--preview", action="store_true", help="show what is sent for the first pair, and stop")
        server = add_server(parser)
        server.add_argument(
            "--prices",
            type=above_0,
            nargs=2,
            metavar=("READ", "WRITTEN"),
            help="of a million tokens, in any one currency, to tell the cost",
        )

    def run(self, **options: Any) -> None:
        pool = lookup.pool(options["pool"])
        named = options["uncertain_judge"]
        wanted = PrefillOptions(
            llm_options(options),
            order=Order(options["first"], lookup.llm_judge(named) if named else None),
            limit=options["limit"],
            retry_failed=options["retry_failed"],
        )
        if options["preview"]:
            self.say(*preview(pool=pool, llm=wanted.llm.open(pool.collection.scale)))
            return
        with stoppable():
            report = prefill(pool=pool, options=wanted, track=OutcomeTrack(self.say))
        self._report(report, options["prices"] and Prices(*options["prices"]))
        self.say(f"next: python manage.py llm_quality {pool.slug} --judge {report.judge.fingerprint[:8]}")

    def _report(self, report: PrefillReport, prices: Prices | None) -> None:
        outcomes = in_words(report.outcomes)
        self.say(
            f"{report.judge.label}: {count(report.outcomes.total(), 'pair')} judged"
            + (f" ({outcomes})" if outcomes else "")
        )
        usage = report.usage
        if usage.prompt_tokens or usage.completion_tokens:
            cost = f", which cost {usage.cost(prices):,.4f}" if prices else ""
            self.say(f"  {usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written{cost}")
            if usage.unknown:
                self.say(f"  without those of {count(usage.unknown, 'answer')}, which came without their number")
        if report.already:
            self.say(f"  {report.already:,} were judged before")
        if report.held_by_others:
            self.say(f"  {report.held_by_others:,} are in the hands of other workers")
        if report.outcomes["failed"]:
            why = report.failure.rstrip(".") or "no reason given"
            self.say(f"  the failed ones, the latest with “{why}”, are tried again with --retry-failed")
