"""A model behind any server that speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama, a hosted one."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

from judging.engines.llm import grades, parse, reading, responses
from judging.engines.llm.base import Answer, Preview, Question
from judging.engines.llm.connection import Connection, RefusedError
from judging.engines.llm.prompts import Prompt
from judging.engines.llm.window import cut_at_word
from judging.errors import UserError
from judging.formats.scale import Scale

TOP = 20
"""How many of the likeliest tokens a server is asked for: the most that OpenAI and vLLM give."""

SCORE_TOKENS = 4
"""Room for blanks before the grade, where the answer is the number alone."""

# Statuses that every further question would meet too.
_HOPELESS = {401: "the key is missing or wrong", 404: "there is no such address or model"}


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is served and how it is asked.

    ``url`` is the base that ends in ``/v1`` with most servers. ``key_variable`` names the environment variable that
    holds the key; the key itself is kept nowhere. ``most_characters`` bounds the document, which is cut at a word
    beyond, as a server would refuse what exceeds its window. ``options`` are merged into each request, such as
    ``{"seed": 1}``; None takes a field out, for servers that refuse it.
    """

    url: str
    key_variable: str = ""
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 4
    backoff: float = 1.0
    most_characters: int = 12_000
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(
                f"Expected a server such as http://localhost:8000/v1, found {_without_secrets(self.url)!r}."
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UserError(
                "The server's address holds a name, a password or a query, and it is recorded with the judge. Expected "
                "the plain address; put the key into an environment variable and name that."
            )
        if self.concurrency < 1 or self.timeout <= 0 or self.retries < 0 or self.most_characters < 1:
            raise UserError(
                "Expected concurrency and characters of at least 1, a timeout above 0 and retries of at least 0; found "
                f"{self.concurrency}, {self.most_characters}, {self.timeout:g} and {self.retries}."
            )

    @property
    def base(self) -> str:
        return self.url.rstrip("/").removesuffix("/chat/completions")

    def connect(self) -> Connection:
        """Raises UserError where the variable that should hold the key is empty."""
        key = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if self.key_variable and not key:
            raise UserError(
                f"Expected the server's key in the environment variable {self.key_variable}, which is not set."
            )
        return Connection(f"{self.base}/chat/completions", key, self.timeout, self.retries, self.backoff)


def only_model(server: Server) -> str:
    """The name of the model that a server serves, where it is one alone, as with vLLM and llama.cpp.

    Raises UserError with the names where there are several, or the reason why it does not tell.
    """
    asking = server.connect()
    try:
        listed = replace(asking, url=f"{server.base}/models").get().get("data")
    except RefusedError as refused:
        raise UserError(f"{server.base} does not tell which models it serves: {refused.reason}.") from None
    entries = listed if isinstance(listed, list) else []
    names = [str(entry["id"]) for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    if len(names) == 1:
        return names[0]
    there = f"serves {', '.join(names[:20])}" if names else "names no model"
    raise UserError(f"{server.base} {there}: name one with --judge, and the address with --server.")


class ServedModel:
    """One judge: a model that a server offers under a name, with a prompt and a scale.

    In mode ``score`` the probabilities come from the server's ``top_logprobs``; where it has none, the grade is read
    from the text and the answer has no probabilities. ``judge`` raises UserError for what every question would meet,
    such as a wrong key; everything else that fails is an answer ``failed`` with the reason.
    """

    def __init__(
        self, model: str, *, server: Server, prompt: Prompt, scale: Scale, revision: str | None = None
    ) -> None:
        prompt.check_scale(scale)
        self.name = f"{model.rpartition('/')[2]} {prompt.name}"
        self.model = model
        self.server = server
        self.prompt = prompt
        self.scale = scale
        self.revision = revision
        self._logprobs = prompt.mode == "score"
        self._was_reached = False

    def identity(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "revision": self.revision or "as served",
            "server": self.server.base,
            "prompt": self.prompt.name,
            "prompt_digest": self.prompt.digest,
            "mode": self.prompt.mode,
            "scale": self.scale.as_json(),
            "truncation": f"document, at a word within {self.server.most_characters} characters",
            "decoding": self._decoding() | {"parser": parse.VERSION, "options": dict(self.server.options)},
        }

    def _decoding(self) -> dict[str, Any]:
        if self.prompt.mode == "generate":
            return {"method": "greedy", "temperature": 0, "max_tokens": self.prompt.max_tokens}
        return {
            "method": f"grade tokens among the {TOP} likeliest; the text where the server gives no probabilities",
            "temperature": 0,
            "max_tokens": SCORE_TOKENS,
            "scale_mass": grades.SCALE_MASS,
            "blank_mass": grades.BLANK_MASS,
        }

    def preview(self, question: Question) -> Preview:
        """The messages; what text the server makes of them is its own."""
        shown, truncated = cut_at_word(question, self.server.most_characters)
        return Preview(self.prompt.fill(shown, self.scale), truncated=truncated)

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in their order, at most ``concurrency`` of them asked at a time."""
        connection = self.server.connect()
        answers: list[Answer | None] = [None] * len(questions)
        waiting: SimpleQueue[int] = SimpleQueue()
        for number in range(len(questions)):
            waiting.put(number)
        stop = threading.Event()
        errors: list[BaseException] = []

        def work() -> None:
            try:
                while not stop.is_set():
                    number = waiting.get_nowait()
                    answers[number] = self._ask(questions[number], connection, stop)
            except Empty:
                return
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                errors.append(error)
                stop.set()

        # Daemons, so that Ctrl-C need not wait for a server that does not answer.
        workers = [
            threading.Thread(target=work, daemon=True) for _ in range(min(self.server.concurrency, len(questions)))
        ]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            stop.set()
        if errors:
            raise errors[0]
        return [answer for answer in answers if answer is not None]

    def _ask(self, question: Question, connection: Connection, stop: threading.Event) -> Answer:
        started = time.perf_counter()
        try:
            shown, truncated = cut_at_word(question, self.server.most_characters)
            messages = self.prompt.fill(shown, self.scale)
        except ValueError as error:
            return Answer("failed", raw=str(error))
        try:
            answer = self._read(self._send(messages, connection, stop))
            self._was_reached = True
        except RefusedError as refused:
            self._refuse_hopeless(refused)
            answer = Answer("failed", raw=refused.reason)
        return replace(answer, seconds=time.perf_counter() - started, truncated=truncated)

    def _refuse_hopeless(self, refused: RefusedError) -> None:
        if refused.status in _HOPELESS:
            raise UserError(f"{self.server.base}: {_HOPELESS[refused.status]}. {refused.reason}") from None
        if not (refused.reached or self._was_reached):
            raise UserError(
                f"{self.server.base} cannot be reached: {refused.reason}. Expected a server that answers at that "
                "address: is it running, and is the address right?"
            ) from None
        self._was_reached |= refused.reached

    def _send(self, messages: list[dict[str, str]], connection: Connection, stop: threading.Event) -> dict[str, Any]:
        logprobs = self._logprobs
        try:
            return connection.ask(self._payload(messages, logprobs=logprobs), stop=stop)
        except RefusedError as refused:
            if not logprobs or refused.status not in (400, 422) or not re.search("log_?prob", refused.reason):
                raise
        # A server that refuses the field is not asked for it again.
        self._logprobs = False
        return connection.ask(self._payload(messages, logprobs=False), stop=stop)

    def _payload(self, messages: list[dict[str, str]], *, logprobs: bool) -> dict[str, Any]:
        scoring = self.prompt.mode == "score"
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": SCORE_TOKENS if scoring else self.prompt.max_tokens,
        }
        if logprobs:
            payload |= {"logprobs": True, "top_logprobs": TOP}
        payload |= self.server.options
        return {name: value for name, value in payload.items() if value is not None}

    def _read(self, response: dict[str, Any]) -> Answer:
        said = responses.read(response)
        if said is None:
            return Answer("failed", raw="the server's answer has no text: expected choices[0].message.content")
        answer = None
        if self.prompt.mode == "score":
            answer = responses.read_logprobs(said, self.scale)
        if answer is None:
            answer = reading.read_text(said.text, self.scale, complete=said.complete)
        return replace(
            answer, raw=said.text, prompt_tokens=said.prompt_tokens, completion_tokens=said.completion_tokens
        )


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//…@", url.partition("?")[0])
