"""What rerankers and LLMs share when they load a pretrained model: where it lies, its revision, number type, versions.

torch and transformers are imported inside the functions, so that importing an engine costs nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from judging.errors import UserError

WEIGHT_FILES = ("*.safetensors", "*.bin", "*.gguf")
DTYPES = ("float32", "bfloat16", "auto")

_LOADING_ERRORS = (OSError, ValueError, KeyError, ImportError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One exact set of weights.

    ``name`` is the published id, or a local folder's or file's own name without its path: the same weights have the
    same name on every machine. ``revision`` is the commit of the hub, or ``sha256:…`` of local weights. ``source`` and
    ``arguments`` are what ``from_pretrained`` takes.
    """

    name: str
    source: str
    revision: str
    arguments: dict[str, str] = field(default_factory=dict)


def model_name(model: str) -> str:
    """The name a model is shown under: its hub id, or a local folder's or file's own name without its path."""
    path = Path(model).expanduser()
    if path.suffix == ".gguf":
        return path.stem
    return path.resolve().name if path.is_dir() else model


def find_checkpoint(model: str, *, revision: str | None = None, name: str | None = None) -> Checkpoint:
    """The checkpoint behind a hub id, a folder written by ``save_pretrained`` or a ``.gguf`` file.

    ``name`` is the published name of a folder's weights, where they have one. Raises UserError where there is none.
    """
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        gguf = {"gguf_file": path.name}
        return Checkpoint(model_name(model), str(path.resolve().parent), weights_digest([path]), gguf)
    if path.is_dir():
        folder = path.resolve()
        files = sorted(file for pattern in WEIGHT_FILES for file in folder.glob(pattern))
        if not files:
            raise unloadable(model, f"the folder holds no weights ({', '.join(WEIGHT_FILES)})")
        return Checkpoint(name or model_name(model), str(folder), weights_digest(files))
    if path.is_absolute() or model.startswith((".", "~")) or path.suffix == ".gguf" or path.exists():
        raise unloadable(model, "it is neither a folder nor a .gguf file")
    commit = _commit(model, revision)
    return Checkpoint(model, model, commit, {"revision": commit})


def weights_digest(files: list[Path]) -> str:
    """``sha256:…`` of the files' bytes, one after the other."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def _commit(model: str, revision: str | None) -> str:
    """The commit that a branch or tag of a hub model points to now, or in the local cache when offline."""
    from transformers.utils import cached_file

    try:
        config = cached_file(model, "config.json", revision=revision)
    except _LOADING_ERRORS as error:
        raise unloadable(model, error) from error
    return Path(str(config)).parent.name


def load(loader: Any, checkpoint: Checkpoint, **arguments: Any) -> Any:
    """``loader.from_pretrained`` without remote code. Raises UserError where the checkpoint cannot be loaded."""
    try:
        return loader.from_pretrained(checkpoint.source, trust_remote_code=False, **checkpoint.arguments, **arguments)
    except _LOADING_ERRORS as error:
        raise unloadable(checkpoint.name, error) from error


def load_model(loader: Any, checkpoint: Checkpoint, *, dtype: str, ignored: tuple[str, ...] = ()) -> Any:
    """A model ready to infer: on its device, in eval mode, with SDPA attention.

    ``ignored`` are beginnings of weight names that may be missing. Any other missing weight would be filled with
    random numbers and is an error.
    """
    import torch

    model, report = load(
        loader,
        checkpoint,
        dtype=getattr(torch, dtype),
        attn_implementation="sdpa",
        output_loading_info=True,
        **_dequantised(checkpoint),
    )
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(ignored))
    if missing:
        raise unloadable(checkpoint.name, f"its weights lack {', '.join(missing[:3])}, which this use needs")
    return model.to(device()).eval()


def _dequantised(checkpoint: Checkpoint) -> dict[str, Any]:
    """Has the weights of a GGUF file unpacked once, at load.

    Left packed they need less memory, but every product unpacks them again in float32, which is many times slower where
    no kernel of its own does it.
    """
    if not is_gguf(checkpoint):
        return {}
    from transformers import GgufConfig

    return {"quantization_config": GgufConfig(dequantize=True)}


def is_gguf(checkpoint: Checkpoint) -> bool:
    return "gguf_file" in checkpoint.arguments


def weights_identity(checkpoint: Checkpoint, dtype: str) -> dict[str, Any]:
    """How packed weights were made ready, for the identity of what uses them; nothing for plain ones."""
    if not is_gguf(checkpoint):
        return {}
    return {"weights": f"GGUF, dequantised to {dtype} at load", "gguf": library_versions("gguf")["gguf"]}


def device() -> str:
    """``cuda`` where there is one, ``cpu`` elsewhere."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_dtype(wanted: str) -> str:
    """``float32`` or ``bfloat16``; ``auto`` is bfloat16 where the processor multiplies in it, float32 elsewhere."""
    if wanted not in DTYPES:
        raise UserError(f"The number type must be one of {', '.join(DTYPES)}; found {wanted!r}.")
    if wanted != "auto":
        return wanted
    return "bfloat16" if _multiplies_bfloat16() else "float32"


def _multiplies_bfloat16() -> bool:
    import torch

    if device() == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    able = torch.cpu.get_capabilities()
    return any(able.get(feature, False) for feature in ("amx_bf16", "avx512_bf16"))


def library_versions(*libraries: str) -> dict[str, str]:
    """The installed version of each library."""
    return {library: metadata.version(library) for library in libraries}


def unloadable(model: str, reason: object) -> UserError:
    """The error for a model that cannot be used: which, why, and what to give instead."""
    first = next(iter(str(reason).strip().splitlines()), "") or type(reason).__name__
    return UserError(
        f"The model {model!r} cannot be loaded: {first.rstrip('.')}. Expected the id of a model on huggingface.co that "
        "this machine can reach or has in its cache, or the path of a local copy."
    )
