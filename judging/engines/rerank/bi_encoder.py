"""Bi-encoders: query and document are embedded apart, the cosine of the two is the score.

Reimers and Gurevych, "Sentence-BERT", EMNLP 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from judging.engines import pretrained
from judging.engines.pretrained import Checkpoint
from judging.engines.rerank.batches import batches, window_of
from judging.engines.rerank.sentence_config import read_sentence_config
from judging.formats.records import Document, Query

Embeddings = npt.NDArray[np.float32]


class BiEncoder:
    """A sentence encoder. A document is embedded once in the life of the instance, whichever queries ask for it."""

    def __init__(self, checkpoint: Checkpoint, *, dtype: str = "float32") -> None:
        from transformers import AutoConfig, AutoTokenizer

        self.name = checkpoint.name
        self.checkpoint = checkpoint
        self.dtype = dtype
        self.settings = read_sentence_config(checkpoint)
        self.tokenizer = pretrained.load(AutoTokenizer, checkpoint)
        limit = window_of(self.tokenizer, pretrained.load(AutoConfig, checkpoint))
        self.window = min(self.settings.window or limit, limit)
        self._documents: dict[tuple[str, int], Embeddings] = {}

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModel

        # The pooler is a layer for other uses: an encoder saved without it is complete.
        return pretrained.load_model(AutoModel, self.checkpoint, dtype=self.dtype, ignored=("pooler.",))

    def identity(self) -> dict[str, Any]:
        return {
            "kind": "bi-encoder",
            "model": self.name,
            "revision": self.checkpoint.revision,
            "dtype": self.dtype,
            "device": pretrained.device(),
            "window": self.window,
            "pooling": self.settings.pooling,
            "prompts": {"query": self.settings.query_prompt, "document": self.settings.document_prompt},
            "score": "cosine",
            "versions": pretrained.library_versions("torch", "transformers", "tokenizers"),
        }

    def score(self, query: Query, documents: Sequence[Document]) -> list[float]:
        """The cosine of query and document, from -1 to 1, per document in their order."""
        if not documents:
            return []
        # The text belongs to the key: an id says which document, not which version or collection.
        keys = [(document.id, hash(document.full_text)) for document in documents]
        new = {key: document for key, document in zip(keys, documents, strict=True) if key not in self._documents}
        if new:
            texts = [self.settings.document_prompt + document.full_text for document in new.values()]
            self._documents.update(zip(new, self.embed(texts), strict=True))
        (embedded,) = self.embed([self.settings.query_prompt + query.text])
        cosines = np.stack([self._documents[key] for key in keys]) @ embedded
        return [float(cosine) for cosine in cosines]

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embeddings of length 1, shape (texts, dimensions), of the first ``window`` tokens of each text."""
        import torch

        encoded = self.tokenizer(list(texts), truncation=True, max_length=self.window)
        embeddings: list[Any] = [None] * len(texts)
        with torch.inference_mode():
            for rows, batch in batches(self.tokenizer, encoded, pretrained.device()):
                pooled = self._pool(self._model(**batch).last_hidden_state.float(), batch["attention_mask"])
                pooled = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
                for row, vector in zip(rows, pooled, strict=True):
                    embeddings[row] = vector
        return np.stack(embeddings)

    def _pool(self, states: Any, mask: Any) -> Any:
        """(rows, tokens, dimensions) to (rows, dimensions)."""
        if self.settings.pooling == "cls":
            return states[:, 0]
        mask = mask.unsqueeze(-1).to(states.dtype)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)
