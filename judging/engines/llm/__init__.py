"""LLMs as judges. ``open_llm`` makes one; torch is loaded at its first use, never by this import."""

from __future__ import annotations

from pathlib import Path

from judging.engines.llm.base import Answer, LanguageModel, Preview, Question
from judging.engines.llm.families import family_of
from judging.engines.llm.local import BATCH_TOKENS, DEFAULT_MODEL, TransformersModel
from judging.engines.llm.prompts import Prompt, load_prompt, parse_prompt, prompt_names
from judging.engines.llm.server import ServedModel, Server, only_model
from judging.engines.llm.usage import Prices, Usage, usage_of
from judging.formats.scale import Scale

__all__ = [
    "DEFAULT_MODEL",
    "DEFAULT_PROMPT",
    "Answer",
    "LanguageModel",
    "Preview",
    "Prices",
    "Prompt",
    "Question",
    "Server",
    "Usage",
    "family_of",
    "load_prompt",
    "only_model",
    "open_llm",
    "parse_prompt",
    "prompt_names",
    "usage_of",
]

DEFAULT_PROMPT = "pointwise"


def open_llm(
    model: str = DEFAULT_MODEL,
    *,
    scale: Scale,
    prompt: str | Path | Prompt = DEFAULT_PROMPT,
    revision: str | None = None,
    dtype: str = "auto",
    batch_tokens: int = BATCH_TOKENS,
    server: str | Server | None = None,
) -> LanguageModel:
    """The judge made of a model, a prompt (name, file or read) and a scale.

    The model is loaded here from a hub id, a folder or a ``.gguf`` file, or asked of a ``server``, where it is the name
    the server has for it; ``dtype`` and ``batch_tokens`` mean nothing then, and ``revision`` is taken as given.

    Raises UserError for a prompt that does not exist or is written for another scale. The model itself is looked for
    at its first use.
    """
    prompt = prompt if isinstance(prompt, Prompt) else load_prompt(prompt)
    if server is not None:
        server = Server(server) if isinstance(server, str) else server
        return ServedModel(model, server=server, prompt=prompt, scale=scale, revision=revision)
    return TransformersModel(
        model, prompt=prompt, scale=scale, revision=revision, dtype=dtype, batch_tokens=batch_tokens
    )
