"""The form that asks an LLM to judge a pool: what it offers, and what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _

from judging.engines.llm import DEFAULT_MODEL, DEFAULT_PROMPT, Server
from judging.engines.pretrained import DTYPES
from judging.errors import UserError
from judging.models import First, Judge, Pool, PrefillJob
from judging.steps import lookup, prompts
from judging.steps.prefill_options import LlmOptions, Order
from judging.steps.urgency import llms_with_probabilities
from judging.views.answers import number_in

# What a field of the form may hold.
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class LlmForm:
    """``given`` is shown in the fields; ``problem`` says why it was not taken."""

    given: Mapping[str, str]
    models: Sequence[str]
    prompts: Sequence[str]
    dtypes: Sequence[str]
    servers: Sequence[str]
    orders: Sequence[tuple[str, str]]
    llms: Sequence[Judge]
    problem: str = ""

    @property
    def is_more_open(self) -> bool:
        """Whether a field that is folded away holds something."""
        if self.given["first"] == First.UNCERTAIN:
            return True
        return any(self.given[name] != _PLAIN[name] for name in ("revision", "dtype", "server", "uncertain_judge"))


_PLAIN = {
    "model": DEFAULT_MODEL,
    "prompt": DEFAULT_PROMPT,
    "first": First.QUERIES.value,
    "limit": "",
    "revision": "",
    "dtype": "auto",
    "server": "",
    "uncertain_judge": "",
}


def llm_form(pool: Pool, given: Mapping[str, str] | None = None, problem: str = "") -> LlmForm:
    asked = PrefillJob.objects.order_by("-asked_at").values_list("options__model", flat=True)[:50]
    return LlmForm(
        given={name: (given or {}).get(name, plain)[:_LONGEST] for name, plain in _PLAIN.items()},
        models=list(dict.fromkeys([DEFAULT_MODEL, *asked])),
        prompts=prompts.all_names(),
        dtypes=["auto", *(dtype for dtype in DTYPES if dtype != "auto")],
        servers=list(settings.LLM_SERVERS),
        orders=[(value, str(label)) for value, label in First.choices],
        llms=llms_with_probabilities(pool),
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class Asked:
    llm: LlmOptions
    order: Order = field(default_factory=Order)
    limit: int | None = None


def asked_in(post: Mapping[str, str]) -> Asked:
    """What the form says.

    Raises: UserError for what a field cannot hold.
    """
    text = {name: post.get(name, plain).strip() for name, plain in _PLAIN.items()}
    if too_long := next((name for name, value in text.items() if len(value) > _LONGEST or "\0" in value), None):
        raise UserError(
            _("Expected at most %(most)s characters in “%(field)s”.") % {"most": _LONGEST, "field": too_long}
        )
    if not text["model"]:
        raise UserError(_("Name a model: an id of huggingface.co, a folder or GGUF file where the worker runs."))
    return Asked(
        LlmOptions(text["model"], text["prompt"], text["revision"] or None, text["dtype"], _server(text["server"])),
        Order(text["first"], lookup.llm_judge(text["uncertain_judge"]) if text["uncertain_judge"] else None),
        _limit(text["limit"]),
    )


def _limit(text: str) -> int | None:
    if not text:
        return None
    number = number_in(text)
    if number is None or not 1 <= number <= 2**31 - 1:
        raise UserError(_("Expected as limit a whole number of at least 1, found “%(found)s”.") % {"found": text[:40]})
    return number


def _server(url: str) -> Server | None:
    """One of those that the settings name, with the variable of its key, and no other."""
    if not url:
        return None
    if url not in settings.LLM_SERVERS:
        raise UserError(
            _("The server “%(url)s” is not offered here. Whoever runs the application adds it to LLM_SERVERS.")
            % {"url": url[:80]}
        )
    return Server(url, key_variable=settings.LLM_SERVERS[url])
