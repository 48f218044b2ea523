"""What every embedder keeps, whichever adapter stands behind it. One line in ADAPTERS tests a new one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.embedding_server import embedding_server
from support.tiny_bert import save_tiny_bert

from medcite_core.embedding.background import BackgroundEmbedder
from medcite_core.embedding.factory import build_embedder, known_identity
from medcite_core.embedding.models import UAE_QUERY_PROMPT
from medcite_core.errors import InvalidInput
from medcite_core.ports import Embedder
from medcite_core.settings import EmbeddingSettings

ADAPTERS = ["angle-minilm", "angle-cls-with-prompt", "endpoint"]
TEXTS = [f"aspirin and stroke, report {i}: " + "risk of the stroke " * (i % 7) for i in range(41)]


@pytest.fixture(scope="module", params=ADAPTERS)
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddingSettings]:
    if request.param == "angle-minilm":
        yield EmbeddingSettings(batch_size=8)
    elif request.param == "angle-cls-with-prompt":
        folder: Path = save_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-uae")
        yield EmbeddingSettings(model=str(folder), pooling="cls", query_prompt=UAE_QUERY_PROMPT, batch_size=8)
    else:
        with embedding_server() as server:
            yield EmbeddingSettings(
                provider="openai", base_url=server.base_url, model="own", query_prompt="query: {text}", batch_size=8
            )


@pytest.fixture(scope="module")
def embedder(settings: EmbeddingSettings) -> BackgroundEmbedder:
    return build_embedder(settings)


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.identity.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS[::9]])
    assert (vectors[::9] * alone).sum(axis=1).min() > 0.9999


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed_passages(TEXTS[:3]), embedder.embed_passages(TEXTS[:3]))


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.identity.dimension)


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
def test_fr_077_blank_text_is_refused_before_the_model_sees_it(embedder: Embedder, blank: str) -> None:
    with pytest.raises(InvalidInput):
        embedder.embed_query(blank)
    with pytest.raises(InvalidInput, match="text 1"):
        embedder.embed_passages(["fine", blank])


def test_a_query_is_a_passage_with_the_query_prompt_around_it(embedder: Embedder) -> None:
    prompt = embedder.identity.query_prompt or "{text}"
    query = embedder.embed_query("aspirin and {stroke}")
    same = embedder.embed_passages([prompt.replace("{text}", "aspirin and {stroke}")])[0]
    assert query.shape == (embedder.identity.dimension,)
    assert query @ same > 0.9999
    if prompt != "{text}":
        assert query @ embedder.embed_passages(["aspirin and {stroke}"])[0] < 0.999


def test_a_text_longer_than_the_model_reads_is_embedded_not_refused(embedder: Embedder) -> None:
    assert np.isfinite(embedder.embed_passages(["5.3 " * 3000])).all()


def test_threads_that_embed_at_once_get_their_own_vectors(embedder: Embedder) -> None:
    expected = embedder.embed_passages(TEXTS)
    wrong: list[int] = []

    def work(place: int) -> None:
        for _ in range(3):
            if embedder.embed_passages([TEXTS[place]])[0] @ expected[place] < 0.9999:
                wrong.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_exists_at_once_and_loads_in_the_background(settings: EmbeddingSettings) -> None:
    started = time.monotonic()
    embedder = build_embedder(settings)
    assert embedder.state == "loading"
    assert embedder.problem == ""
    embedder.start()
    embedder.start()
    assert time.monotonic() - started < 1.0
    assert np.isfinite(embedder.embed_query("a call while it loads waits for the model")).all()
    assert embedder.state == "ready"


def test_its_identity_says_what_vectors_must_agree_on(settings: EmbeddingSettings, embedder: Embedder) -> None:
    before = known_identity(settings)
    assert embedder.identity.dimension == len(embedder.embed_query("aspirin"))
    assert before.dimension in (0, embedder.identity.dimension)
    assert (before.model, before.pooling, before.query_prompt) == (
        embedder.identity.model,
        embedder.identity.pooling,
        embedder.identity.query_prompt,
    )
