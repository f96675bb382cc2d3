"""Which family a pretrained model belongs to, by its name: a judge tends to like what a sibling has ranked high."""

from __future__ import annotations

import re

_FAMILIES: tuple[tuple[str, str], ...] = (
    # A distilled model is of the family that was trained further, so those names come before their teachers'.
    ("qwen", r"qwen|qwq|\bgte-qwen|jina-reranker-m0|mxbai-rerank-(?:base|large)-v2"),
    ("gemma", r"gemma|gemini"),
    ("phi", r"phi-?\d|\bphi\b"),
    ("mistral", r"mistral|mixtral|ministral|magistral|zephyr"),
    ("smollm", r"smollm"),
    ("llama", r"llama|vicuna|rankvicuna"),
    ("deepseek", r"deepseek"),
    ("granite", r"granite"),
    ("olmo", r"olmo"),
    ("falcon", r"falcon"),
    ("claude", r"claude"),
    ("gpt", r"gpt|davinci|\bo[134](?:-mini)?\b"),
    ("cohere", r"cohere|command-(?:r|a)\b|rerank-(?:english|multilingual|v\d)"),
    ("t5", r"t5\b|\bflan"),
    ("modernbert", r"modernbert"),
    ("roberta", r"roberta|xlm-r|bge-(?:reranker-(?:base|large|v2-m3)|m3)|jina-reranker-v2"),
    ("electra", r"electra"),
    ("deberta", r"deberta|mxbai-rerank"),
    ("bert", r"bert|minilm|tinybert|mpnet|bge-|\be5-|\bgte-"),
)


def family_of(model: str) -> str | None:
    """The family of a model by its id, file name or served name, such as ``qwen``; None where the name does not tell.

    Two models are siblings where both have a family and it is the same.
    """
    name = model.replace("\\", "/").lower().replace("_", "-")
    return next((family for family, pattern in _FAMILIES if re.search(pattern, name)), None)
