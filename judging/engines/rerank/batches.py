"""Texts in, batches of tensors out: equal lengths together, so that little is spent on padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

BATCH = 16
"""Rows a batch. On a processor, more rows cost more in padding and cache misses than they gain."""

USUAL_WINDOW = 512
"""The window of the BERT family, taken where a tokenizer states none (it then says 10**30)."""


def window_of(tokenizer: Any, config: Any) -> int:
    """The most tokens a model reads at once: what its tokenizer says, within the positions that its config has."""
    stated = int(tokenizer.model_max_length)
    positions = getattr(config, "max_position_embeddings", None)
    limit = stated if stated <= 1_000_000 else USUAL_WINDOW
    return min(limit, positions) if positions else limit


def batches(tokenizer: Any, encoded: Any, device: str) -> Iterator[tuple[list[int], Any]]:
    """Yields (positions of the rows, padded tensors), longest rows first.

    ``encoded`` is what the tokenizer returned without padding. Longest first, so that memory runs out at once or never.
    """
    lengths = [len(ids) for ids in encoded["input_ids"]]
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        batch = {key: [values[row] for row in rows] for key, values in encoded.items()}
        yield rows, tokenizer.pad(batch, return_tensors="pt").to(device)
