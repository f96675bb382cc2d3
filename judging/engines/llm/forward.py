"""Forward passes of a causal model over rows of token ids: as a tree of what they share, or padded side by side.

Both give the same logits within rounding. Logits are computed for the last token of a row alone: those of all positions
of a large vocabulary take gigabytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from judging.engines.llm.tree import Ids, grow, plan_passes
from judging.engines.llm.window import plan_batches

FULL, SLIDING = "full_attention", "sliding_attention"

_PROBE = 40
_ROUNDING = {"float32": 1e-3, "bfloat16": 0.1}
"""The most that two ways of reading may differ, as a share of the logits' spread."""

# What a model may raise that does not take a mask or a cache of this form.
_UNFIT = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)


class Pass(Protocol):
    """One batch of rows being read."""

    def start(self) -> Any:
        """Logits after each row, shape (rows, vocabulary), float32 on the processor."""
        ...

    def step(self, tokens: Sequence[int | None]) -> Any:
        """Logits after one more token a row, as ``start`` gives them; those of a row with None mean nothing."""
        ...


class Reader(Protocol):
    """A model that reads rows, in passes that it plans itself."""

    def plan(self, rows: Sequence[Ids], budget: int) -> list[list[int]]: ...

    def read(self, rows: Sequence[Ids]) -> Pass: ...


def open_reader(model: Any, sample: Ids) -> Reader:
    """The tree where the model reads one as it reads plain rows, which pieces of ``sample`` show; else the padded."""
    return TreeReader(model) if _reads_trees(model, sample) else PaddedReader(model)


def _reads_trees(model: Any, sample: Ids) -> bool:
    if set(_layers(model)) - {FULL, SLIDING}:
        return False
    head, tail = sample[:_PROBE], sample[-_PROBE:]
    rows = [np.concatenate([head, tail[n:]]) for n in range(0, len(tail), max(1, len(tail) // 3))]
    reader = TreeReader(model)
    try:
        # Twice, for the second pass starts from what the first has read.
        there = np.concatenate([reader.read(rows[:2]).start(), reader.read(rows[1:]).start()])
    except _UNFIT:
        return False
    plain = PaddedReader(model).read([*rows[:2], *rows[1:]]).start()
    return bool(np.abs(there - plain).max() <= _ROUNDING[str(model.dtype).rpartition(".")[2]] * plain.std())


def _layers(model: Any) -> list[str]:
    config = model.config.get_text_config()
    default = SLIDING if getattr(config, "sliding_window", None) else FULL
    return list(getattr(config, "layer_types", None) or [default])


class TreeReader:
    """Computes once what rows have in common, within a pass and from one pass to the next.

    The keys and values of the last row of a pass are kept. With them the next pass has the instructions and examples,
    and the query where it goes on with the same one. They take some ten to a hundred MB.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.known: Ids = np.empty(0, dtype=np.int64)
        self.kept: list[tuple[Any, Any]] = []
        """Keys and values of ``known`` a layer, shape (1, heads, tokens, width)."""

    def plan(self, rows: Sequence[Ids], budget: int) -> list[list[int]]:
        return plan_passes(rows, self.known, budget)

    def read(self, rows: Sequence[Ids]) -> TreePass:
        return TreePass(self, rows)


class TreePass:
    """Rows read as one tree. The cache holds a column a token; masks say which of them a token sees."""

    def __init__(self, reader: TreeReader, rows: Sequence[Ids]) -> None:
        self._reader = reader
        self._model = reader.model
        self._rows = rows
        self._tree = grow(rows, reader.known)
        self._cache = self._cache_of_start()
        self._positions = np.concatenate([np.arange(self._tree.start), self._tree.positions])
        size = len(self._positions)
        self._seen = np.zeros((len(rows), size), dtype=bool)
        for seen, path in zip(self._seen, self._tree.paths, strict=True):
            seen[path] = True

    def start(self) -> Any:
        tree = self._tree
        logits = self._run(tree.tokens, tree.positions, tree.mask, tree.leaves)
        self._keep(self._tree.paths[-1])
        return logits

    def step(self, tokens: Sequence[int | None]) -> Any:
        rows = [row for row, token in enumerate(tokens) if token is not None]
        positions = np.array([self._positions[self._seen[row]].max() + 1 for row in rows])
        more = np.zeros((len(tokens), len(rows)), dtype=bool)
        more[rows, np.arange(len(rows))] = True
        self._seen = np.hstack([self._seen, more])
        self._positions = np.concatenate([self._positions, positions])
        ids = np.array([token for token in tokens if token is not None])
        logits = self._run(ids, positions, self._seen[rows], np.arange(len(rows)))
        spread = np.zeros((len(tokens), logits.shape[1]), dtype=logits.dtype)
        spread[rows] = logits
        return spread

    def _run(self, ids: Ids, positions: Ids, mask: Any, wanted: Ids) -> Any:
        import torch

        device = self._model.device
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor(ids, device=device)[None],
                attention_mask=self._masks(mask, positions),
                position_ids=torch.tensor(positions, device=device)[None],
                cache=self._cache,
                use_cache=True,
                logits_to_keep=torch.tensor(wanted, device=device),
            )
        return output.logits[0].float().cpu().numpy()

    def _masks(self, mask: Any, positions: Ids) -> Any:
        """The mask of each kind of attention, by its name where the model has several kinds."""
        import torch

        kinds = dict.fromkeys(_layers(self._model))
        masks = {FULL: mask}
        if SLIDING in kinds:
            window = self._model.config.get_text_config().sliding_window
            masks[SLIDING] = mask & (positions[:, None] - self._positions[None] < window)
        tensors = {kind: torch.tensor(masks[kind], device=self._model.device)[None, None] for kind in kinds}
        return tensors if len(tensors) > 1 else next(iter(tensors.values()))

    def _cache_of_start(self) -> Any:
        from transformers import DynamicCache

        # Without the model's configuration no layer forgets what slid out of its window: masks see to that.
        cache = DynamicCache()
        start = self._tree.start
        for layer, (keys, values) in enumerate(self._reader.kept if start else []):
            cache.update(keys[:, :, :start], values[:, :, :start], layer)
        return cache

    def _keep(self, path: Ids) -> None:
        import torch

        columns = torch.tensor(path, device=self._model.device)
        self._reader.kept = [
            (layer.keys.index_select(2, columns), layer.values.index_select(2, columns)) for layer in self._cache.layers
        ]
        self._reader.known = self._rows[-1]


class PaddedReader:
    """Rows side by side, each read from its first token: for models that take no mask of a tree."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def plan(self, rows: Sequence[Ids], budget: int) -> list[list[int]]:
        return plan_batches([len(row) for row in rows], budget)

    def read(self, rows: Sequence[Ids]) -> PaddedPass:
        return PaddedPass(self.model, rows)


class PaddedPass:
    """Rows padded on the left, so that the last position is everybody's own; positions count real tokens only."""

    def __init__(self, model: Any, rows: Sequence[Ids]) -> None:
        self._model = model
        self._rows = rows
        self._cache: Any = None
        self._mask: Any = None

    def start(self) -> Any:
        width = max(map(len, self._rows))
        self._mask = self._tensor([[0] * (width - len(row)) + [1] * len(row) for row in self._rows])
        return self._run(self._tensor([[0] * (width - len(row)) + row.tolist() for row in self._rows]))

    def step(self, tokens: Sequence[int | None]) -> Any:
        import torch

        ids = self._tensor([[token or 0] for token in tokens])
        self._mask = torch.cat([self._mask, torch.ones_like(ids)], dim=1)
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

    def _tensor(self, rows: list[list[int]]) -> Any:
        import torch

        return torch.tensor(rows, device=self._model.device)
