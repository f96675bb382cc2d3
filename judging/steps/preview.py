"""What an LLM is sent for one pair of a pool, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from judging.engines.llm import Prompt
from judging.engines.llm.base import LanguageModel, Messages
from judging.errors import UserError
from judging.models import Pair, Pool
from judging.steps.prefill import questions


@dataclass(frozen=True, slots=True)
class PairPreview:
    """The chat messages of a pair, or the reason why it cannot be asked. ``position`` counts from 1."""

    pair: Pair
    position: int
    pairs: int
    messages: Messages
    problem: str = ""


def pair_at(*, pool: Pool, position: int) -> tuple[Pair, int, int]:
    """The pair at a place in the order in which people get them, the place within bounds, and how many there are.

    Raises: UserError for a pool without pairs that can be read.
    """
    pairs = pool.pairs.readable().select_related("query", "document")
    count = pairs.count()
    if not count:
        raise UserError(f"The pool {pool.slug} has no pair that could be asked.")
    position = min(max(1, position), count)
    return pairs[position - 1], position, count


def messages_of(*, pool: Pool, prompt: Prompt, position: int = 1) -> PairPreview:
    """The messages of one pair, its document whole: where a model cuts it only the model's tokenizer can tell.

    Raises: UserError for a prompt that is written for another scale.
    """
    prompt.check_scale(pool.collection.scale)
    pair, position, count = pair_at(pool=pool, position=position)
    try:
        messages = prompt.fill(questions([pair])[0], pool.collection.scale)
    except ValueError as error:
        return PairPreview(pair, position, count, [], str(error))
    return PairPreview(pair, position, count, messages)


def preview(*, pool: Pool, llm: LanguageModel, position: int = 1) -> list[str]:
    """The lines that show what a model is sent: the very text where its tokenizer is at hand, else the messages.

    Raises: UserError for a pair that cannot be asked.
    """
    pair, position, count = pair_at(pool=pool, position=position)
    try:
        shown = llm.preview(questions([pair])[0])
    except ValueError as error:
        raise UserError(f"The pair {pair.query.qid} {pair.document.docid} cannot be asked: {error}.") from error
    tokens = "" if shown.tokens is None else f", {shown.tokens:,} tokens"
    cut = "; the document is cut" if shown.truncated else ""
    head = f"Pair {position:,} of {count:,}: query {pair.query.qid}, document {pair.document.docid}{tokens}{cut}"
    if shown.text is not None:
        return [head, "", shown.text]
    return [head, *(line for message in shown.messages for line in ("", f"[{message['role']}]", message["content"]))]
