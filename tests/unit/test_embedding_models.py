"""The model table: what is known, what must be told, and what contradicts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tiny_bert import save_tiny_bert

from medcite_core.embedding.factory import build_embedder, known_identity
from medcite_core.embedding.models import UAE_QUERY_PROMPT, packaged_minilm
from medcite_core.errors import EmbedderUnavailable, InvalidSettings
from medcite_core.settings import EmbeddingSettings

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/embedding/minilm.json").read_text())


def test_fr_073_one_fixed_sentence_gives_the_stored_vector() -> None:
    vector = build_embedder(EmbeddingSettings()).embed_passages([GOLDEN["sentence"]])[0]
    stored = np.array(GOLDEN["vector"], np.float32)
    assert vector @ stored / np.linalg.norm(stored) > 0.999


def test_fr_074_a_folder_without_pooling_and_prompt_is_refused_naming_both_settings() -> None:
    with pytest.raises(InvalidSettings) as refused:
        build_embedder(EmbeddingSettings(model=str(packaged_minilm())))
    assert "MEDCITE_EMBEDDING__POOLING" in refused.value.hint
    assert "MEDCITE_EMBEDDING__QUERY_PROMPT" in refused.value.hint


def test_fr_074_a_folder_with_its_settings_gives_the_reference_vector() -> None:
    settings = EmbeddingSettings(model=str(packaged_minilm()), pooling="mean", query_prompt="{text}")
    vector = build_embedder(settings).embed_query(GOLDEN["sentence"])
    assert vector @ np.array(GOLDEN["vector"], np.float32) > 0.999


def test_fr_074_the_pooling_that_was_told_is_the_one_used() -> None:
    settings = EmbeddingSettings(model=str(packaged_minilm()), pooling="cls", query_prompt="{text}")
    vector = build_embedder(settings).embed_query(GOLDEN["sentence"])
    assert vector @ np.array(GOLDEN["vector"], np.float32) < 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "owner/unknown"},
        {"model": "owner/unknown", "pooling": "mean"},
        {"model": "no-such-model", "pooling": "mean", "query_prompt": "{text}"},
        {"model": "/no/such/folder", "pooling": "mean", "query_prompt": "{text}"},
        {"model": "minilm", "pooling": "cls"},
        {"model": "minilm", "query_prompt": "query: {text}"},
        {"model": "WhereIsAI/UAE-Large-V1", "pooling": "mean"},
        {"model": "owner/known", "pooling": "mean", "query_prompt": "no place for it"},
        {"model": "owner/known", "pooling": "mean", "query_prompt": "{text} and {text}"},
        {"model": "owner/known", "pooling": "mean", "query_prompt": "{text} {other}"},
        {"model": "owner/known", "pooling": "mean", "query_prompt": "{"},
        {"provider": "openai", "model": "text-embedding-3-small"},
        {"provider": "openai", "model": "own", "base_url": "http://127.0.0.1:9/v1"},
        {"provider": "openai", "model": "text-embedding-3-small", "base_url": "http://h/v1", "pooling": "mean"},
    ],
)
def test_settings_that_would_give_wrong_vectors_are_refused_with_a_hint(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings) as refused:
        build_embedder(EmbeddingSettings(**wrong))
    assert "MEDCITE_" in refused.value.hint


def test_uae_is_known_with_cls_pooling_and_angles_own_query_prompt() -> None:
    from angle_emb import Prompts

    identity = known_identity(EmbeddingSettings(model="WhereIsAI/UAE-Large-V1", revision="abc"))
    assert (identity.pooling, identity.dimension, identity.revision) == ("cls", 1024, "abc")
    assert identity.query_prompt == UAE_QUERY_PROMPT == Prompts.C


def test_a_model_that_is_not_here_and_cannot_be_fetched_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    embedder = build_embedder(EmbeddingSettings(model="WhereIsAI/UAE-Large-V1", revision="f" * 40))
    with pytest.raises(EmbedderUnavailable, match="not on this machine") as missing:
        embedder.embed_query("aspirin")
    assert "MEDCITE_EMBEDDING__MODEL=minilm" in missing.value.hint
    assert embedder.state == "failed"
    assert "WhereIsAI/UAE-Large-V1" in embedder.problem


def test_fr_081_two_models_of_one_shape_have_two_identities(tmp_path: Path) -> None:
    one, other = (save_tiny_bert(tmp_path / str(seed) / "model", seed=seed) for seed in (1, 2))
    identities = {
        known_identity(EmbeddingSettings(model=str(folder), pooling="cls", query_prompt="{text}"))
        for folder in (one, other)
    }
    assert len(identities) == 2
    assert {identity.dimension for identity in identities} == {64}


def test_a_moved_folder_keeps_its_identity(tmp_path: Path) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    before = known_identity(EmbeddingSettings(model=str(folder), pooling="cls", query_prompt="{text}"))
    (tmp_path / "elsewhere").mkdir()
    moved = folder.rename(tmp_path / "elsewhere" / "model")
    assert known_identity(EmbeddingSettings(model=str(moved), pooling="cls", query_prompt="{text}")) == before


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"config\.json"):
        build_embedder(EmbeddingSettings(model=str(tmp_path), pooling="cls", query_prompt="{text}"))


def test_a_folder_without_weights_fails_when_it_loads_and_says_which(tmp_path: Path) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    embedder = build_embedder(EmbeddingSettings(model=str(folder), pooling="cls", query_prompt="{text}"))
    with pytest.raises(EmbedderUnavailable, match=str(folder)):
        embedder.embed_query("aspirin")
    assert embedder.state == "failed"


def test_fr_072_a_package_that_no_longer_imports_is_named_with_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "angle_emb", None)
    embedder = build_embedder(EmbeddingSettings())
    with pytest.raises(EmbedderUnavailable) as broken:
        embedder.embed_query("aspirin")
    assert "angle-emb" in broken.value.message
    assert "MEDCITE_EMBEDDING__PROVIDER" in broken.value.message
    assert embedder.state == "failed"
    assert "\n" not in embedder.problem


def test_making_an_embedder_imports_no_heavy_package_and_loading_prints_nothing() -> None:
    code = (
        "import sys\n"
        "from medcite_core.embedding.factory import build_embedder\n"
        "from medcite_core.settings import EmbeddingSettings\n"
        "e = build_embedder(EmbeddingSettings())\n"
        "assert not {'torch', 'angle_emb', 'transformers', 'openai'} & set(sys.modules)\n"
        "import structlog, logging; structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))\n"
        "e.embed_query('aspirin')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
