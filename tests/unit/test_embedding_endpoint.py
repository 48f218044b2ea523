"""An embedding endpoint that is slow, refuses, cuts off or is something else: a clear error, nothing wrong stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr
from support.embedding_server import DIMENSION, EmbeddingServer, Scripted, embedding_server, vector_of

from medcite_core.embedding.background import BackgroundEmbedder
from medcite_core.embedding.factory import build_embedder
from medcite_core.errors import EmbedderUnavailable
from medcite_core.settings import EmbeddingSettings

KEY = "sk-secret-0123456789"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def embedder_of(server: EmbeddingServer, **more: Any) -> BackgroundEmbedder:
    given: dict[str, Any] = {"model": "own", "query_prompt": "{text}", "api_key": SecretStr(KEY), **more}
    return build_embedder(EmbeddingSettings(provider="openai", base_url=server.base_url, **given))


def test_texts_are_sent_in_batches_and_come_back_in_order(server: EmbeddingServer) -> None:
    texts = [f"text number {i}" for i in range(70)]
    vectors = embedder_of(server, batch_size=32).embed_passages(texts)
    expected = np.array([vector_of(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors, expected, atol=1e-5)
    assert [len(body["input"]) for body in server.requests] == [1, 32, 32, 6]
    assert server.authorizations[-1] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_fr_087_a_busy_endpoint_is_asked_again(server: EmbeddingServer, status: int) -> None:
    embedder = embedder_of(server)
    embedder.embed_query("reached")
    server.queue += [Scripted(status=status, body={"error": {"message": "busy"}}, headers={"Retry-After": "0"})] * 2
    assert embedder.embed_passages(["aspirin"]).shape == (1, DIMENSION)


def test_how_often_it_is_asked_again_is_a_setting(server: EmbeddingServer) -> None:
    embedder = embedder_of(server, retries=0)
    embedder.embed_query("reached")
    server.queue.append(Scripted(status=503, body={"error": {"message": "busy"}}, headers={"Retry-After": "0"}))
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_passages(["aspirin"])
    assert embedder.embed_passages(["aspirin"]).shape == (1, DIMENSION)


def test_the_dimension_of_an_unknown_model_is_asked_of_the_endpoint(server: EmbeddingServer) -> None:
    assert embedder_of(server).identity.dimension == DIMENSION


def test_fr_080_an_endpoint_that_serves_another_model_is_refused(server: EmbeddingServer) -> None:
    embedder = embedder_of(server, model="text-embedding-3-small", query_prompt=None)
    assert embedder.identity.dimension == 1536
    with pytest.raises(EmbedderUnavailable, match="48 numbers where 1536"):
        embedder.embed_query("aspirin")


WRONG_BODIES = [
    Scripted(body="<html>Sign in</html>", content_type="text/html"),
    Scripted(body="", content_type="application/json"),
    Scripted(body={"object": "list"}),
    Scripted(body=[1, 2]),
    Scripted(body={"data": []}),
    Scripted(body={"data": [{"index": 0, "embedding": vector_of("a")}] * 2}),
    Scripted(body={"data": [{"index": 5, "embedding": vector_of("a")}]}),
    Scripted(body={"data": [{"index": 0}]}),
    Scripted(body={"data": [{"index": 0, "embedding": []}]}),
    Scripted(body={"data": [{"index": 0, "embedding": "AAAA"}]}),
    Scripted(body={"data": [{"index": 0, "embedding": ["x"] * DIMENSION}]}),
    Scripted(body={"data": [{"index": 0, "embedding": [[0.5] * DIMENSION]}]}),
    Scripted(body={"data": [{"index": 0, "embedding": [None] * DIMENSION}]}),
    Scripted(body={"data": [{"index": 0, "embedding": [0.0] * DIMENSION}]}),
    Scripted(body={"data": [{"index": 0, "embedding": [0.5] * (DIMENSION + 1)}]}),
    Scripted(body='{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'),
    Scripted(body={"data": ["not an object"]}),
    Scripted(status=400, body={"error": {"message": f"bad request by {KEY}"}}),
    Scripted(status=404, body="<html>not here</html>", content_type="text/html"),
]


@pytest.mark.parametrize("wrong", WRONG_BODIES)
def test_a_wrong_reply_is_an_error_with_a_hint_and_never_a_vector(server: EmbeddingServer, wrong: Scripted) -> None:
    embedder = embedder_of(server)
    embedder.embed_query("reached")
    server.queue.append(wrong)
    with pytest.raises(EmbedderUnavailable, match="endpoint for model own") as refused:
        embedder.embed_passages(["aspirin"])
    assert "MEDCITE_EMBEDDING__BASE_URL" in refused.value.hint
    assert KEY not in refused.value.message + refused.value.hint
    # The endpoint is used again as soon as it behaves.
    assert embedder.embed_passages(["aspirin"]).shape == (1, DIMENSION)


def test_a_refused_key_is_named_by_its_setting_and_never_shown(server: EmbeddingServer) -> None:
    server.queue.append(Scripted(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    embedder = embedder_of(server)
    with pytest.raises(EmbedderUnavailable, match="refused the key") as refused:
        embedder.embed_query("aspirin")
    assert "MEDCITE_EMBEDDING__API_KEY" in refused.value.hint
    assert KEY not in repr(refused.value) + refused.value.hint + embedder.problem


def test_an_endpoint_that_does_not_answer_in_time_says_so(server: EmbeddingServer) -> None:
    embedder = embedder_of(server, timeout_s=0.2)
    server.queue += [Scripted(delay_s=1.0)] * 2
    with pytest.raises(EmbedderUnavailable, match="in time") as slow:
        embedder.embed_query("aspirin")
    assert "MEDCITE_EMBEDDING__TIMEOUT_S" in slow.value.hint


def test_an_endpoint_that_is_down_fails_at_once_and_works_when_it_is_up_again(server: EmbeddingServer) -> None:
    embedder = embedder_of(server)
    server.queue += [Scripted(status=502, body="bad gateway", content_type="text/html")] * 2
    with pytest.raises(EmbedderUnavailable, match="502"):
        embedder.embed_query("aspirin")
    assert embedder.state == "failed"
    assert embedder.embed_query("aspirin").shape == (DIMENSION,)
    assert (embedder.state, embedder.problem) == ("ready", "")


def test_nobody_listening_is_an_error_with_a_hint() -> None:
    with embedding_server() as gone:
        pass
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        embedder_of(gone).embed_query("aspirin")
