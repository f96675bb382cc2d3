"""Forward passes of a causal model over rows of token ids of different lengths."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

SHARED = 32
"""From this many tokens on, a beginning that all rows share is read once instead of once a row."""

_PLAIN_LAYERS = {"full_attention", "sliding_attention"}


class Forward:
    """The next-token logits of a batch, and those after one more token. Imports torch.

    Rows are padded on the left of what they do not share, so that the last position is everybody's own; the padding is
    masked and positions count real tokens only. Logits are computed for the last position alone: those of all positions
    of a large vocabulary take gigabytes.
    """

    def __init__(self, model: Any, rows: list[list[int]]) -> None:
        self._model = model
        self._rows = rows
        self._cache: Any = None
        self._mask: Any = None

    def start(self) -> Any:
        """Logits after each row, shape (rows, vocabulary), float32 on the processor."""
        shared = self._shared()
        if shared:
            self._mask = self._tensor([[1] * shared])
            self._run(self._tensor([self._rows[0][:shared]]))
            self._cache.batch_repeat_interleave(len(self._rows))
        rest = [row[shared:] for row in self._rows]
        width = max(map(len, rest))
        self._mask = self._tensor([[1] * shared + [0] * (width - len(row)) + [1] * len(row) for row in rest])
        return self._run(self._tensor([[0] * (width - len(row)) + row for row in rest]))

    def step(self, tokens: list[int]) -> Any:
        """Logits after one more token a row, as ``start`` gives them. Reads nothing twice."""
        ids = self._tensor([[token] for token in tokens])
        self._mask = self._tensor([[*row, 1] for row in self._mask.tolist()])
        return self._run(ids)

    def _run(self, ids: Any) -> Any:
        import torch

        positions = (self._mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        with torch.inference_mode():
            output = self._model(
                input_ids=ids,
                attention_mask=self._mask,
                position_ids=positions,
                cache=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
        self._cache = output.cache
        return output.logits[:, -1].float().cpu().numpy()

    def _shared(self) -> int:
        """How many tokens at the beginning of all rows are read once; 0 where it does not pay or is not exact."""
        if len(self._rows) == 1:
            return 0
        columns = zip(*self._rows, strict=False)
        # Every row must keep a token of its own to be read.
        common = min(sum(1 for _ in takewhile(_all_equal, columns)), min(map(len, self._rows)) - 1)
        return common if common >= SHARED and self._may_share() else 0

    def _may_share(self) -> bool:
        config = self._model.config
        layers = set(getattr(config, "layer_types", None) or _PLAIN_LAYERS)
        # Padding inside a row pushes its beginning out of a sliding window too early.
        window = getattr(config, "sliding_window", None) or max(map(len, self._rows))
        return layers <= _PLAIN_LAYERS and max(map(len, self._rows)) <= window

    def _tensor(self, rows: list[list[int]]) -> Any:
        import torch

        return torch.tensor(rows, device=self._model.device)


def _all_equal(column: tuple[int, ...]) -> bool:
    return column.count(column[0]) == len(column)
