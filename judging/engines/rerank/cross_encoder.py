"""Cross-encoders: one reading of query and document together, one number out.

Nogueira and Cho, "Passage Re-ranking with BERT", 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from judging.engines import pretrained
from judging.engines.pretrained import Checkpoint
from judging.engines.rerank.batches import batches, window_of
from judging.errors import UserError
from judging.formats.records import Document, Query


class CrossEncoder:
    """A sequence classifier with one output (its raw logit is the score) or two (positive minus negative logit).

    Raises UserError for a head of another size.
    """

    def __init__(self, checkpoint: Checkpoint, *, dtype: str = "float32") -> None:
        from transformers import AutoConfig, AutoTokenizer

        self.name = checkpoint.name
        self.checkpoint = checkpoint
        self.dtype = dtype
        config = pretrained.load(AutoConfig, checkpoint)
        if config.num_labels not in (1, 2):
            raise UserError(
                f"The model {self.name!r} is no reranker: expected a head with one or two outputs, found "
                f"{config.num_labels}."
            )
        self.tokenizer = pretrained.load(AutoTokenizer, checkpoint)
        self.window = window_of(self.tokenizer, config)

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForSequenceClassification

        return pretrained.load_model(AutoModelForSequenceClassification, self.checkpoint, dtype=self.dtype)

    def identity(self) -> dict[str, Any]:
        return {
            "kind": "cross-encoder",
            "model": self.name,
            "revision": self.checkpoint.revision,
            "dtype": self.dtype,
            "device": pretrained.device(),
            "window": self.window,
            "truncation": "longest_first",
            "score": "logit",
            "versions": pretrained.library_versions("torch", "transformers", "tokenizers"),
        }

    def score(self, query: Query, documents: Sequence[Document]) -> list[float]:
        """One raw logit per document, in their order.

        A pair longer than the window loses the end of its document; the query is cut only where it alone takes more
        than half of the window.
        """
        import torch

        if not documents:
            return []
        encoded = self.tokenizer(
            [query.text] * len(documents),
            [document.full_text for document in documents],
            truncation="longest_first",
            max_length=self.window,
        )
        scores = [0.0] * len(documents)
        with torch.inference_mode():
            for rows, batch in batches(self.tokenizer, encoded, pretrained.device()):
                logits = self._model(**batch).logits.float()
                column = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
                for row, score in zip(rows, column.tolist(), strict=True):
                    scores[row] = score
        return scores
