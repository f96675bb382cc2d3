"""Which LLM shall judge, as a person gives it: on the shell, or on a page for a worker to read later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judging.engines.llm import DEFAULT_MODEL, DEFAULT_PROMPT, Server, open_llm
from judging.engines.llm.base import LanguageModel
from judging.engines.pretrained import DTYPES
from judging.errors import UserError
from judging.formats.scale import Scale
from judging.models import First, Judge, fingerprint_of
from judging.steps import prompts


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """What makes the judge. ``server`` None: the model is loaded by the process that judges."""

    model: str = DEFAULT_MODEL
    prompt: str = DEFAULT_PROMPT
    revision: str | None = None
    dtype: str = "auto"
    server: Server | None = None

    def start(self, scale: Scale) -> LanguageModel:
        """As ``open``, for the process that judges: also UserError where it lacks the server's key."""
        llm = self.open(scale)
        if self.server is not None:
            self.server.connect()
        return llm

    def open(self, scale: Scale) -> LanguageModel:
        """Nothing is loaded and nobody asked. Raises: UserError for a model or a prompt that cannot be used."""
        if not self.model.strip():
            raise UserError("Expected the name of a model, found nothing.")
        if self.model.startswith(("http://", "https://")):
            raise UserError(
                f"Expected the name of a model, found the address {self.model!r}: a server is named beside the "
                "name that it has for the model."
            )
        _refuse_judge(self.model.strip())
        if self.dtype not in DTYPES:
            raise UserError(f"--dtype: expected one of {', '.join(DTYPES)}, found {self.dtype!r}.")
        return open_llm(
            self.model,
            prompt=prompts.find(self.prompt),
            scale=scale,
            revision=self.revision or None,
            dtype=self.dtype,
            server=self.server,
        )

    def key(self) -> str:
        """The hash of what makes the judge: how a server is asked is not part of it, the text of the prompt is."""
        server = None if self.server is None else [self.server.base, self.server.most_characters]
        parts = (self.model, prompts.find(self.prompt).digest, self.revision or "", self.dtype, server)
        return fingerprint_of(dict(zip(("model", "prompt", "revision", "dtype", "server"), parts, strict=True)))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LlmOptions:
        server = stored.get("server")
        return cls(**{**stored, "server": None if server is None else Server(**server)})


def _refuse_judge(name: str) -> None:
    """A judge is made of a model; only the model can be asked.

    Labels that were made elsewhere may go by the bare name of a model, which is no mistake.
    """
    for judge in Judge.objects.filter(kind=Judge.Kind.LLM).exclude(fingerprint=""):
        made_of = judge.configuration.get("prompt")
        has_own_name = judge.is_calibrated or judge.name.endswith(f" {made_of}")
        if name == judge.label or (has_own_name and name == judge.name) or judge.has_fingerprint(name):
            raise UserError(f"Expected the name of a model, found the judge {judge.label!r}. {_instead(judge)}")


def _instead(judge: Judge) -> str:
    made_of = judge.configuration
    if judge.is_calibrated:
        base = made_of["base"]
        return (
            f"Nobody can ask it: its grades are computed from what {base['name']!r} answers. Have that one judge the "
            f"pairs, then calibrate it again: python manage.py llm_calibrate POOL --judge {base['fingerprint'][:8]}"
        )
    return (
        f"Name the model that it is made of, here {made_of.get('model', 'unknown')!r} or where it lies, and the prompt "
        f"{made_of.get('prompt', 'unknown')!r}."
    )


@dataclass(frozen=True, slots=True)
class Order:
    """Which pairs come ``first``; ``uncertain_judge`` is whose uncertainty tells, where several judges' could."""

    first: str = First.QUERIES.value
    uncertain_judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class PrefillOptions:
    """An LLM, and how much of a pool it shall judge in which order."""

    llm: LlmOptions
    order: Order = field(default_factory=Order)
    limit: int | None = None
    retry_failed: bool = False
