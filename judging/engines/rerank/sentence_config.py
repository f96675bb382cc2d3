"""How a sentence encoder wants to be read: the small files that sentence-transformers keeps beside the weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judging.engines.pretrained import Checkpoint
from judging.errors import UserError

_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}


@dataclass(frozen=True, slots=True)
class SentenceConfig:
    """``window`` is None where the model states none; the prompts are put before a text as they are."""

    pooling: str = "mean"
    window: int | None = None
    query_prompt: str = ""
    document_prompt: str = ""


def read_sentence_config(checkpoint: Checkpoint) -> SentenceConfig:
    """The settings of a sentence encoder; those of mean pooling where it brings none.

    Raises UserError for a model whose embeddings need more than pooling, or another pooling than mean or CLS.
    """
    modules = _read(checkpoint, "modules.json") or []
    kinds = {module["type"].rpartition(".")[2]: module["path"] for module in modules}
    if unknown := sorted(kinds.keys() - _KNOWN_MODULES):
        raise UserError(
            f"The sentence encoder {checkpoint.name!r} is built of parts that cannot be read here: expected "
            f"{', '.join(sorted(_KNOWN_MODULES))}, found also {', '.join(unknown)}."
        )
    pooling = _read(checkpoint, f"{kinds['Pooling']}/config.json") if "Pooling" in kinds else None
    prompts = (_read(checkpoint, "config_sentence_transformers.json") or {}).get("prompts") or {}
    return SentenceConfig(
        pooling=_pooling(checkpoint, pooling or {}),
        window=(_read(checkpoint, "sentence_bert_config.json") or {}).get("max_seq_length"),
        query_prompt=prompts.get("query") or "",
        document_prompt=prompts.get("document") or prompts.get("passage") or "",
    )


def _pooling(checkpoint: Checkpoint, settings: dict[str, Any]) -> str:
    # Newer files name the mode, older ones switch each mode on or off.
    modes = settings.get("pooling_mode")
    if isinstance(modes, str):
        modes = [modes]
    if modes is None:
        modes = [_POOLINGS.get(key, key) for key, on in settings.items() if key.startswith("pooling_mode_") and on] or [
            "mean"
        ]
    if len(modes) == 1 and modes[0] in _POOLINGS.values():
        return str(modes[0])
    raise UserError(
        f"The sentence encoder {checkpoint.name!r} pools its tokens by {' and '.join(modes)}: expected mean or cls."
    )


def _read(checkpoint: Checkpoint, file: str) -> Any:
    from transformers.utils import cached_file

    found = cached_file(
        checkpoint.source,
        file,
        revision=checkpoint.arguments.get("revision"),
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return json.loads(Path(found).read_text(encoding="utf-8")) if found else None
