"""Models of a few thousand weights, made on the spot and saved as real ones are. torch is imported inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = (
    "{% for message in messages if message['role'] == 'user' %}<|user|>{{ message['content'] }}<|end|>{% endfor %}"
)
CONTROL_TOKENS = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]

_GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.layers": "blk",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}

_CORPUS = [
    "The grade says whether the document answers the question. Answer with the number only.",
    "0 = Not relevant: Does not help to answer 1 = Relevant: Answers, at least in part 2 3 4 5 6 7 8 9",
    "Robert Gray was a merchant sea captain who sailed around the world for the first time under an American flag.",
    "Wings produce lift because air flows faster above them than below; a boundary layer forms along the surface.",
]


def tiny_phi3(
    folder: Path,
    *,
    says: Sequence[str] = ("0", "1"),
    after_blank: Sequence[str] = (),
    chat_template: str = CHAT_TEMPLATE,
    sliding_window: int | None = None,
) -> Path:
    """A Phi-3 of two layers with random weights that answers with one of ``says``, after a blank with ``after_blank``.

    Which of them, and how surely, depends on all that it has read.
    """
    import torch
    from transformers import Phi3Config, Phi3ForCausalLM, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_byte_bpe(), eos_token="<|end|>", pad_token="<|end|>", chat_template=chat_template
    )
    config = Phi3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.3,
        sliding_window=sliding_window,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    torch.manual_seed(7)
    model = Phi3ForCausalLM(config).eval()
    with torch.no_grad():
        # Dimension 0 is large for every token, dimension 1 for blanks only; no layer writes there and the head listens
        # to them. What else it hears decides between the tokens of an answer, hardly for any other.
        embeddings, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
        answers = _ids(tokenizer, *says, *after_blank)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight[:2] = 0.0
            layer.mlp.down_proj.weight[:2] = 0.0
        embeddings *= 6
        embeddings[:, 0], embeddings[:, 1], head[:, :2] = 10.0, 0.0, 0.0
        embeddings[_ids(tokenizer, " "), 1] = 30.0
        head *= 0.1
        head[answers] *= 20
        head[_ids(tokenizer, *says), 0] = 6.0
        head[_ids(tokenizer, *after_blank), 1] = 8.0
    return _save(folder, tokenizer, model)


def tiny_gguf(file: Path) -> Path:
    """A Qwen2 of one layer with random weights, in one GGUF file as llama.cpp writes them."""
    import torch
    from gguf import GGUFWriter
    from transformers import Qwen2Config, Qwen2ForCausalLM

    pieces = _byte_bpe()
    torch.manual_seed(4)
    config = Qwen2Config(
        vocab_size=pieces.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=False,
    )
    writer = GGUFWriter(file, "qwen2")
    writer.add_name("Tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_block_count(1)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    _add_vocabulary(writer, pieces)
    for name, tensor in Qwen2ForCausalLM(config).state_dict().items():
        writer.add_tensor(_gguf_name(name), tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_vocabulary(writer: Any, pieces: Any) -> None:
    vocabulary = sorted(pieces.get_vocab().items(), key=lambda item: item[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if token in CONTROL_TOKENS else 1 for token, _ in vocabulary])
    writer.add_token_merges([" ".join(pair) for pair in json.loads(pieces.to_str())["model"]["merges"]])
    writer.add_eos_token_id(pieces.token_to_id("<|end|>"))
    writer.add_pad_token_id(pieces.token_to_id("<|end|>"))
    writer.add_chat_template(CHAT_TEMPLATE)


def _gguf_name(name: str) -> str:
    for ours, theirs in _GGUF_NAMES.items():
        name = name.replace(ours, theirs)
    return name


def tiny_cross_encoder(folder: Path, *, labels: int = 1) -> Path:
    """A BERT sequence classifier of two layers with random weights, window 64."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = _word_pieces()
    torch.manual_seed(2)
    model = BertForSequenceClassification(_bert_config(BertConfig, tokenizer, num_labels=labels)).eval()
    return _save(folder, tokenizer, model)


def tiny_encoder(folder: Path) -> Path:
    """A plain BERT encoder of two layers with random weights, window 64."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = _word_pieces()
    torch.manual_seed(3)
    return _save(folder, tokenizer, BertModel(_bert_config(BertConfig, tokenizer)).eval())


def _bert_config(config: Any, tokenizer: Any, **more: Any) -> Any:
    return config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        initializer_range=0.5,
        **more,
    )


def _byte_bpe() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        _CORPUS,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=CONTROL_TOKENS, initial_alphabet=alphabet, show_progress=False
        ),
    )
    return tokenizer


def _word_pieces() -> Any:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizer

    trained = BertWordPieceTokenizer()
    trained.train_from_iterator(_CORPUS, vocab_size=300, show_progress=False)
    return BertTokenizer(vocab=trained.get_vocab(), model_max_length=10**30)


def _ids(tokenizer: Any, *texts: str) -> list[int]:
    return [token for text in texts for token in tokenizer.encode(text, add_special_tokens=False)]


def _save(folder: Path, tokenizer: Any, model: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
