"""LLMs as judges. ``open_llm`` makes one; torch is loaded at its first use, never by this import."""

from __future__ import annotations

from pathlib import Path

from judging.engines.llm.base import Answer, LanguageModel, Question
from judging.engines.llm.local import BATCH_TOKENS, DEFAULT_MODEL, TransformersModel
from judging.engines.llm.prompts import load_prompt, prompt_names
from judging.formats.scale import Scale

__all__ = ["DEFAULT_MODEL", "DEFAULT_PROMPT", "Answer", "LanguageModel", "Question", "open_llm", "prompt_names"]

DEFAULT_PROMPT = "pointwise"


def open_llm(
    model: str = DEFAULT_MODEL,
    *,
    scale: Scale,
    prompt: str | Path = DEFAULT_PROMPT,
    revision: str | None = None,
    dtype: str = "auto",
    batch_tokens: int = BATCH_TOKENS,
) -> LanguageModel:
    """The judge made of a model (hub id, folder or ``.gguf`` file), a prompt (name or file) and a scale.

    Raises UserError for a prompt that does not exist or is written for another scale. The model itself is looked for
    at its first use.
    """
    return TransformersModel(
        model, prompt=load_prompt(prompt), scale=scale, revision=revision, dtype=dtype, batch_tokens=batch_tokens
    )
