"""A causal language model in this process, read by the probabilities of its grade tokens or by what it writes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from judging.engines import pretrained
from judging.engines.llm import grades, parse, reading
from judging.engines.llm.base import Answer, Preview, Question
from judging.engines.llm.chat import Chat
from judging.engines.llm.forward import Reader, TreeReader, open_reader
from judging.engines.llm.prompts import Prompt
from judging.engines.llm.window import Encoded, fit
from judging.errors import UserError
from judging.formats.scale import Scale

DEFAULT_MODEL = "microsoft/Phi-3-mini-4k-instruct"

WINDOW = 4096
"""The most tokens a question may have, even where a model could read more: the window of the default model, and on a
processor about as much as one would wait for."""

BATCH_TOKENS = 4096

PROCESSOR_TOKENS = 512
"""What one pass reads on a processor, where attention over a tree costs the square of its size: in
bfloat16 on one thread a 1.5B model read 63 tokens per second of processor time in passes of 512, 55 in passes of 1,024
and 48 in passes of 2,048."""


class TransformersModel:
    """One judge: a model by hub id, folder or ``.gguf`` file, with a prompt and a scale.

    Nothing is loaded before the first ``judge`` or ``identity``, and each part once in the life of the instance.
    ``batch_tokens`` is the most that one pass reads anew. It bounds memory and changes answers by rounding only.
    Raises UserError for a prompt written for another scale.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        prompt: Prompt,
        scale: Scale,
        revision: str | None = None,
        dtype: str = "auto",
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        prompt.check_scale(scale)
        if dtype not in pretrained.DTYPES:
            raise UserError(f"The number type must be one of {', '.join(pretrained.DTYPES)}; found {dtype!r}.")
        self.name = f"{pretrained.model_name(model).rpartition('/')[2]} {prompt.name}"
        self.prompt = prompt
        self.scale = scale
        self.batch_tokens = batch_tokens
        self._given = (model, revision, dtype)
        self._opened: Reader | None = None

    def identity(self) -> dict[str, Any]:
        return {
            "model": self._checkpoint.name,
            "revision": self._checkpoint.revision,
            "dtype": self._dtype,
            "device": pretrained.device(),
            "prompt": self.prompt.name,
            "prompt_digest": self.prompt.digest,
            "mode": self.prompt.mode,
            "scale": self.scale.as_json(),
            "window": self._window,
            "truncation": "document, at a word",
            "decoding": self._decoding(),
            "versions": pretrained.library_versions("transformers", "torch", "tokenizers"),
        } | pretrained.weights_identity(self._checkpoint, self._dtype)

    def _decoding(self) -> dict[str, Any]:
        if self.prompt.mode == "generate":
            return {"method": "greedy", "max_tokens": self.prompt.max_tokens, "parser": parse.VERSION}
        return {
            "method": "grade tokens of the next-token distribution",
            "scale_mass": grades.SCALE_MASS,
            "blank_mass": grades.BLANK_MASS,
        }

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in their order; ``failed`` with the reason for one that cannot be asked."""
        answers: list[Answer | None] = [None] * len(questions)
        encoded: dict[int, Encoded] = {}
        for row, question in enumerate(questions):
            try:
                encoded[row] = fit(question, self._encode, self._window)
            except ValueError as error:
                answers[row] = Answer("failed", raw=str(error))
        # The pairs of a query one after the other, so that what they share is read once.
        asked = [list(encoded)[n] for n in reading.in_turn([questions[row].query.text for row in encoded])]
        for row, read in zip(asked, self._read([encoded[row] for row in asked]), strict=True):
            answers[row] = read
        return [answer for answer in answers if answer is not None]

    def _read(self, asked: list[Encoded]) -> list[Answer]:
        if not asked:
            return []
        rows = [np.array(encoded.ids) for encoded in asked]
        answers: dict[int, Answer] = {}
        reader = self._reader(rows[0])
        for batch in reader.plan(rows, self._budget(reader)):
            started = time.perf_counter()
            read = self._read_pass([rows[n] for n in batch])
            seconds = (time.perf_counter() - started) / len(batch)
            for n, answer in zip(batch, read, strict=True):
                answers[n] = replace(
                    answer, seconds=seconds, truncated=asked[n].truncated, prompt_tokens=len(asked[n].ids)
                )
        return [answers[n] for n in range(len(asked))]

    def _read_pass(self, rows: list[Any]) -> list[Answer]:
        forward = self._reader(rows[0]).read(rows)
        if self.prompt.mode == "score":
            return [replace(answer, completion_tokens=1) for answer in reading.read_scores(forward, self._grade_tokens)]
        written = reading.write(forward, max_tokens=self.prompt.max_tokens, stops=self._stops)
        return [
            replace(
                reading.read_text(self._chat.said(text.ids), self.scale, complete=text.complete),
                completion_tokens=len(text.ids) + text.complete,
            )
            for text in written
        ]

    def _budget(self, reader: Reader) -> int:
        # While texts are written, many rows share each look at the weights, which counts for more than attention.
        small = isinstance(reader, TreeReader) and self.prompt.mode == "score" and pretrained.device() == "cpu"
        return min(self.batch_tokens, PROCESSOR_TOKENS) if small else self.batch_tokens

    def preview(self, question: Question) -> Preview:
        """The very text that the model reads; the chat messages alone where its tokenizer cannot be loaded."""
        self.prompt.fill(question, self.scale)  # what cannot be asked is said before anything is loaded
        try:
            encoded = fit(question, self._encode, self._window)
        except UserError:
            return Preview(self.prompt.fill(question, self.scale))
        messages = self.prompt.fill(encoded.question or question, self.scale)
        return Preview(messages, self._chat.text(encoded.ids), len(encoded.ids), encoded.truncated)

    def _encode(self, question: Question) -> list[int]:
        return self._chat.encode(self.prompt.fill(question, self.scale))

    @cached_property
    def _checkpoint(self) -> pretrained.Checkpoint:
        model, revision, _ = self._given
        return pretrained.find_checkpoint(model, revision=revision)

    @cached_property
    def _dtype(self) -> str:
        return pretrained.choose_dtype(self._given[2])

    @cached_property
    def _chat(self) -> Chat:
        from transformers import AutoTokenizer

        return Chat(pretrained.load(AutoTokenizer, self._checkpoint), self._checkpoint.name)

    @cached_property
    def _grade_tokens(self) -> grades.GradeTokens:
        return grades.GradeTokens(self._chat.tokenizer, self.scale)

    @cached_property
    def _window(self) -> int:
        """So far below the model's own that there is room for the answer: a blank and a grade, or a text."""
        from transformers import AutoConfig

        config = pretrained.load(AutoConfig, self._checkpoint)
        return min(WINDOW, getattr(config, "max_position_embeddings", None) or WINDOW) - max(2, self.prompt.max_tokens)

    @cached_property
    def _stops(self) -> set[int]:
        """The tokens that end the model's turn."""
        of_model = getattr(self._model.generation_config, "eos_token_id", None)
        ends = {*(of_model if isinstance(of_model, list) else [of_model]), self._chat.tokenizer.eos_token_id}
        return {int(token) for token in ends if token is not None}

    def _reader(self, sample: Any) -> Reader:
        """Made once, with the first row that is read."""
        if self._opened is None:
            self._opened = open_reader(self._model, sample)
        return self._opened

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForCausalLM

        # A scale or tokenizer that cannot be used should be said before minutes of loading.
        if self.prompt.mode == "score":
            self._grade_tokens  # noqa: B018
        return pretrained.load_model(AutoModelForCausalLM, self._checkpoint, dtype=self._dtype)
