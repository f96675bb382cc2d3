from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judging.engines.llm.forward import PaddedReader, Reader, TreeReader, open_reader
from judging.engines.llm.reading import write

VOCABULARY = 90
ROWS = [
    np.array(row)
    for row in (
        [*range(40), 50, 51, 52, 60],
        [*range(40), 50, 51, 52, 61, 62, 63, 64, 65],
        [*range(40), 50, 51, 52, *range(70, 90), *range(70, 90)],
        [*range(40), 53, 54, 66],
        [*range(40), 53, 54, 67, 68],
        [*range(20), 7, 7, 7],
    )
]

pytestmark = pytest.mark.models


def tiny(**changes: Any) -> Any:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(5)
    settings = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "initializer_range": 0.5,
    }
    return Qwen2ForCausalLM(Qwen2Config(**(settings | changes))).eval()


def tiny_phi3(window: int | None) -> Any:
    import torch
    from transformers import Phi3Config, Phi3ForCausalLM

    torch.manual_seed(6)
    config = Phi3Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
        sliding_window=window,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return Phi3ForCausalLM(config).eval()


def plain(model: Any, row: Any) -> Any:
    """The next token's logits, with no cache and nothing beside the row."""
    import torch

    with torch.inference_mode():
        return model(input_ids=torch.tensor(row)[None], use_cache=False).logits[0, -1].numpy()


MODELS: dict[str, Callable[[], Any]] = {
    "full attention": tiny,
    "a sliding window in all layers": lambda: tiny_phi3(16),
    "a window longer than the rows": lambda: tiny_phi3(100),
    "full and sliding layers": lambda: tiny(use_sliding_window=True, sliding_window=16, max_window_layers=1),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]()


@pytest.mark.parametrize("reader_of", [TreeReader, PaddedReader])
@pytest.mark.parametrize("budget", [1, 30, 10_000])
def test_the_logits_are_those_of_each_row_read_alone(
    model: Any, reader_of: Callable[[Any], Reader], budget: int
) -> None:
    reader = reader_of(model)
    batches = reader.plan(ROWS, budget)
    assert sorted(n for batch in batches for n in batch) == list(range(len(ROWS)))
    for batch in batches:
        logits = reader.read([ROWS[n] for n in batch]).start()
        for n, there in zip(batch, logits, strict=True):
            assert there == pytest.approx(plain(model, ROWS[n]), abs=1e-4)


@pytest.mark.parametrize("reader_of", [TreeReader, PaddedReader])
def test_steps_go_on_from_where_each_row_ended(model: Any, reader_of: Callable[[Any], Reader]) -> None:
    forward = reader_of(model).read(ROWS)
    forward.start()
    forward.step([11, 12, 13, 14, None, 15])
    logits = forward.step([21, None, 23, 24, None, 25])
    for n, more in ((0, [11, 21]), (2, [13, 23]), (3, [14, 24]), (5, [15, 25])):
        assert logits[n] == pytest.approx(plain(model, [*ROWS[n], *more]), abs=1e-4)


@pytest.mark.parametrize("reader_of", [TreeReader, PaddedReader])
def test_what_is_written_is_what_generate_writes(model: Any, reader_of: Callable[[Any], Reader]) -> None:
    import torch

    written = write(reader_of(model).read(ROWS), max_tokens=12, stops={3, 17})
    for row, text in zip(ROWS, written, strict=True):
        ids = torch.tensor(row)[None]
        mask = torch.ones_like(ids)
        expected = model.generate(
            ids, attention_mask=mask, max_new_tokens=12, do_sample=False, eos_token_id=[3, 17], pad_token_id=0
        )[0, len(row) :].tolist()
        complete = expected[-1] in (3, 17)
        assert (text.ids, text.complete) == (expected[:-1] if complete else expected, complete)


def test_what_was_read_is_not_read_again_in_the_next_pass() -> None:
    reader = TreeReader(tiny())
    read: list[int] = []
    model = reader.model
    model.register_forward_pre_hook(lambda _, __, given: read.append(given["input_ids"].numel()), with_kwargs=True)
    reader.read(ROWS[:2]).start()
    reader.read(ROWS[2:3]).start()
    reader.read(ROWS[3:5]).start()
    assert read == [44 + 5, 40, 3 + 2]


def test_a_model_that_reads_trees_is_found_out(model: Any) -> None:
    assert isinstance(open_reader(model, ROWS[2]), TreeReader)


def test_a_model_that_takes_no_mask_of_a_tree_reads_padded_rows() -> None:
    import torch
    from transformers import FalconConfig, FalconForCausalLM

    torch.manual_seed(8)
    config = FalconConfig(
        vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=True, bos_token_id=0,
        eos_token_id=0,
    )  # fmt: skip
    falcon = FalconForCausalLM(config).eval()
    reader = open_reader(falcon, ROWS[2])
    assert isinstance(reader, PaddedReader)
    logits = reader.read(ROWS).start()
    for row, there in zip(ROWS, logits, strict=True):
        assert there == pytest.approx(plain(falcon, row), abs=1e-4)


def test_a_model_with_another_kind_of_layer_reads_padded_rows() -> None:
    model = tiny()
    model.config.layer_types = ["full_attention", "chunked_attention", "full_attention"]
    assert isinstance(open_reader(model, ROWS[2]), PaddedReader)
