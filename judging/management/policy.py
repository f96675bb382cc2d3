"""The options of every command that merges judgments."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from judging.steps import lookup
from judging.steps.merge import Policy


def add_policy_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--llm", action="append", default=[], metavar="JUDGE",
        help="let this LLM judge's grades fill what no person has judged; may be given several times, first one first",
    )  # fmt: skip
    parser.add_argument(
        "--expand-duplicates", action=BooleanOptionalAction, default=True,
        help="copy grades to documents of exactly the same text (default: yes)",
    )  # fmt: skip


def policy_of(options: dict[str, Any]) -> Policy:
    return Policy(llm=tuple(lookup.llm_judge(name) for name in options["llm"]), duplicates=options["expand_duplicates"])
