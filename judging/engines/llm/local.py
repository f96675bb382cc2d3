"""A causal language model in this process, read by the probabilities of its grade tokens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from judging.engines import pretrained
from judging.engines.llm import grades
from judging.engines.llm.base import Answer, Question
from judging.engines.llm.chat import Chat
from judging.engines.llm.forward import Forward
from judging.engines.llm.prompts import Prompt
from judging.engines.llm.window import Encoded, fit, plan_batches
from judging.errors import UserError
from judging.formats.scale import Scale

DEFAULT_MODEL = "microsoft/Phi-3-mini-4k-instruct"

WINDOW = 4096
"""The most tokens a question may have, even where a model could read more: the window of the default model, and on a
processor about as much as one would wait for."""

BATCH_TOKENS = 4096


class TransformersModel:
    """One judge: a model by hub id, folder or ``.gguf`` file, with a prompt and a scale.

    Nothing is loaded before the first ``judge`` or ``identity``, and each part once in the life of the instance.
    ``batch_tokens`` is what one forward pass holds, padding included; it bounds memory and changes no answer beyond
    rounding. Raises UserError for a prompt written for another scale.
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
            "decoding": {
                "method": "grade tokens of the next-token distribution",
                "scale_mass": grades.SCALE_MASS,
                "blank_mass": grades.BLANK_MASS,
            },
            "versions": pretrained.library_versions("transformers", "torch", "tokenizers"),
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
        rows = list(encoded)
        for batch in plan_batches([len(encoded[row].ids) for row in rows], self.batch_tokens):
            asked = [rows[n] for n in batch]
            for row, read in zip(asked, self._read([encoded[row] for row in asked]), strict=True):
                answers[row] = read
        return [answer for answer in answers if answer is not None]

    def _read(self, batch: list[Encoded]) -> list[Answer]:
        started = time.perf_counter()
        tokens = self._grade_tokens
        forward = Forward(self._model, [encoded.ids for encoded in batch])
        first = [grades.softmax(logits) for logits in forward.start()]
        blanks = [tokens.likeliest_blank(row) for row in first]
        # Rows without a blank go along with any token; what comes of it is not looked at.
        second = forward.step([blank or 0 for blank in blanks]) if any(b is not None for b in blanks) else first
        seconds = (time.perf_counter() - started) / len(batch)
        return [
            self._answer(row, blank, following, seconds=seconds, truncated=encoded.truncated)
            for row, blank, following, encoded in zip(first, blanks, second, batch, strict=True)
        ]

    def _answer(self, row: grades.Row, blank: int | None, logits: Any, *, seconds: float, truncated: bool) -> Answer:
        tokens = self._grade_tokens
        probabilities = tokens.probabilities(row)
        raw = tokens.text(row)
        if blank is not None:
            following = grades.softmax(logits)
            probabilities = grades.add_step(probabilities, float(row[blank]), tokens.probabilities(following))
            raw += tokens.text(following) if int(row.argmax()) == blank else ""
        return grades.answer(probabilities, raw, seconds=seconds, truncated=truncated)

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
        """Two tokens below the model's own, for the blank and the grade."""
        from transformers import AutoConfig

        config = pretrained.load(AutoConfig, self._checkpoint)
        return min(WINDOW, getattr(config, "max_position_embeddings", None) or WINDOW) - 2

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForCausalLM

        # A scale or tokenizer that cannot be used should be said before minutes of loading.
        self._grade_tokens  # noqa: B018
        return pretrained.load_model(AutoModelForCausalLM, self._checkpoint, dtype=self._dtype)
