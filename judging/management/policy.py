"""The options of every command that merges judgments."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from judging.steps import lookup
from judging.steps.merge import Policy


def add_policy_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--llm", action="append", default=[], metavar="JUDGE",
        help="let this LLM judge's grades fill what no person has judged; may be given several times, first one first",
    )  # fmt: skip
    parser.add_argument(
        "--no-duplicates", action="store_true", help="do not copy grades to documents of exactly the same text"
    )


def policy_of(options: dict[str, Any]) -> Policy:
    return Policy(llm=tuple(lookup.llm_judge(name) for name in options["llm"]), duplicates=not options["no_duplicates"])
