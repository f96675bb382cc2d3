from __future__ import annotations

import pytest

from judging.engines.llm import family_of


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("microsoft/Phi-3-mini-4k-instruct", "phi"),
        ("microsoft/phi-4", "phi"),
        ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M", "qwen"),
        ("Qwen/Qwen3-Reranker-0.6B", "qwen"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen"),
        ("deepseek-ai/DeepSeek-V3", "deepseek"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "llama"),
        ("castorini/rank_vicuna_7b_v1", "llama"),
        ("castorini/rank_zephyr_7b_v1_full", "mistral"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("intfloat/e5-mistral-7b-instruct", "mistral"),
        ("google/gemma-2-2b-it", "gemma"),
        ("BAAI/bge-reranker-v2-gemma", "gemma"),
        ("BAAI/bge-reranker-v2-m3", "roberta"),
        ("BAAI/bge-reranker-large", "roberta"),
        ("BAAI/bge-small-en-v1.5", "bert"),
        ("cross-encoder/ms-marco-MiniLM-L-6-v2", "bert"),
        ("cross-encoder/ms-marco-electra-base", "electra"),
        ("mixedbread-ai/mxbai-rerank-xsmall-v1", "deberta"),
        ("castorini/monot5-base-msmarco", "t5"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "smollm"),
        ("gpt-4o-mini", "gpt"),
        ("rerank-english-v3.0", "cohere"),
        ("tiny-phi3", "phi"),
        ("models/somebody's-own", None),
        ("", None),
    ],
)
def test_a_name_tells_the_family(model: str, family: str | None) -> None:
    assert family_of(model) == family
