"""Naming an LLM on the shell: a model with its prompt, in this process or behind a server."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, _ArgumentGroup
from typing import Any

from judging.engines.llm import DEFAULT_MODEL, DEFAULT_PROMPT, Server, only_model
from judging.engines.pretrained import DTYPES
from judging.errors import UserError
from judging.management.base import at_least_1
from judging.steps.prefill_options import LlmOptions


def add_llm(parser: ArgumentParser) -> None:
    """The model, its prompt and how it is loaded."""
    parser.add_argument(
        "--judge",
        default=DEFAULT_MODEL,
        metavar="MODEL|URL",
        help=f"the model, or the address of a server of one model (default: {DEFAULT_MODEL})",
    )
    parser.add_argument(
        "--prompt",
        default=DEFAULT_PROMPT,
        help=f"name of a prompt or path of a prompt file (default: {DEFAULT_PROMPT})",
    )
    parser.add_argument("--revision", help="commit or tag of the model on the hub")
    parser.add_argument("--dtype", default="auto", choices=sorted(DTYPES))


def add_server(parser: ArgumentParser) -> _ArgumentGroup:
    """The server, if the model is behind one; the group, for what else belongs there."""
    server = parser.add_argument_group("a model behind a server")
    server.add_argument("--server", metavar="URL", help="its address, mostly ending in /v1")
    server.add_argument("--key-variable", default="", metavar="NAME", help="environment variable with its key")
    server.add_argument("--concurrency", type=at_least_1, default=8, help="requests at a time (default: 8)")
    server.add_argument("--timeout", type=above_0, default=120.0, help="seconds for an answer (default: 120)")
    server.add_argument("--most-characters", type=at_least_1, default=12_000, help="cut documents (default: 12000)")
    return server


def llm_options(options: dict[str, Any]) -> LlmOptions:
    """A server that is named instead of a model is asked which one it serves.

    Raises: UserError for a key without a server, and for a server with several models.
    """
    model = options["judge"]
    if options["server"] is None and model.startswith(("http://", "https://")):
        options = {**options, "server": model}
        server = _server(options)
        assert server is not None
        model = only_model(server)
    return LlmOptions(model, options["prompt"], options["revision"], options["dtype"], _server(options))


def _server(options: dict[str, Any]) -> Server | None:
    if options["server"] is None:
        if options["key_variable"]:
            raise UserError("--key-variable names the key of a server: give its address with --server.")
        return None
    return Server(
        options["server"],
        key_variable=options["key_variable"],
        concurrency=options["concurrency"],
        timeout=options["timeout"],
        most_characters=options["most_characters"],
    )


def above_0(text: str) -> float:
    """For ``add_argument(type=…)``."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"expected a number above 0, found {text!r}")
    return value
