"""Embeddings from an OpenAI-compatible endpoint, every reply checked before it is believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from medcite_core.embedding.models import ModelCard
from medcite_core.errors import EmbedderUnavailable
from medcite_core.ports import Vectors
from medcite_core.settings import EmbeddingSettings

_QUERY_TIMEOUT_S = 15.0
"""A person waits for a query's vector; after this the search goes on by words."""
_QUERY_RETRIES = 1
_PROBE = "aspirin"


class EndpointEncoder:
    """An endpoint's embedding model. Making one sends a probe, which tells the dimension."""

    def __init__(self, card: ModelCard, settings: EmbeddingSettings) -> None:
        """Reach the endpoint.

        Raises:
            EmbedderUnavailable: it is down, refuses, or what answers is no embedding endpoint.
        """
        import openai

        self._errors = openai
        self._key = settings.api_key.get_secret_value()
        self._model = settings.model
        self._batch_size = settings.batch_size
        self._timeout_s = settings.timeout_s
        self._retries = settings.retries
        self._prompt = card.identity.query_prompt
        self._dimension = card.identity.dimension
        # The client insists on some key; local servers ask for none.
        self._client = openai.OpenAI(base_url=settings.base_url, api_key=self._key or "none", timeout=self._timeout_s)
        rows = self._request([_PROBE], is_query=True)
        self._dimension = rows.shape[1]

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        return self._dimension

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Unit rows, float32, in the order of `texts`; asked for in batches, with retries on 429 and 5xx."""
        sent = [self._prompt.format(text=text) if is_query and self._prompt else text for text in texts]
        parts = [
            self._request(sent[start : start + self._batch_size], is_query=is_query)
            for start in range(0, len(sent), self._batch_size)
        ]
        return np.concatenate(parts)

    def _request(self, texts: list[str], *, is_query: bool) -> Vectors:
        client = self._client.with_options(
            timeout=min(self._timeout_s, _QUERY_TIMEOUT_S) if is_query else self._timeout_s,
            max_retries=min(self._retries, _QUERY_RETRIES) if is_query else self._retries,
        )
        try:
            reply = client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float"
            ).http_response
        except self._errors.APITimeoutError:
            raise self._unavailable("did not answer in time", "Raise MEDCITE_EMBEDDING__TIMEOUT_S.") from None
        except self._errors.APIConnectionError as error:
            cause = type(error.__cause__ or error).__name__
            raise self._unavailable(f"cannot be reached ({cause})") from None
        except self._errors.APIStatusError as error:
            raise self._refused(error) from None
        try:
            body = reply.json()
        except ValueError:
            kind = reply.headers.get("content-type", "no content type").split(";")[0]
            raise self._unavailable(f"answered with {kind} instead of JSON") from None
        return self._checked(body, len(texts))

    def _checked(self, body: Any, count: int) -> Vectors:
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, list) or len(data) != count:
            raise self._unavailable(f"did not return one vector for each of {count} texts")
        try:
            rows = {int(item.get("index", place)): item["embedding"] for place, item in enumerate(data)}
            vectors = np.array([rows[place] for place in range(count)], dtype=np.float32)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise self._unavailable("returned something else than vectors of equal length") from None
        if vectors.ndim != 2 or vectors.shape[1] == 0 or not np.isfinite(vectors).all():
            raise self._unavailable("returned something else than vectors of numbers")
        if self._dimension and vectors.shape[1] != self._dimension:
            raise self._unavailable(
                f"returned vectors of {vectors.shape[1]} numbers where {self._dimension} were expected"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if math.isclose(float(lengths.min()), 0.0):
            raise self._unavailable("returned a vector of zeros")
        unit: Vectors = vectors / lengths
        return unit

    def _refused(self, error: Any) -> EmbedderUnavailable:
        status = error.status_code
        if status in (401, 403):
            return self._unavailable(f"refused the key (HTTP {status})", "Check MEDCITE_EMBEDDING__API_KEY.")
        said = ""
        if isinstance(error.body, dict):
            said = " ".join(str(error.body.get("message", "")).split())[:200]
            if self._key:
                said = said.replace(self._key, "***")
        return self._unavailable(f"answered HTTP {status}" + (f": {said}" if said else ""))

    def _unavailable(self, what: str, hint: str = "") -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"the embedding endpoint for model {self._model} {what}",
            hint
            or "Check MEDCITE_EMBEDDING__BASE_URL (it usually ends in /v1) and MEDCITE_EMBEDDING__MODEL; "
            "search by words still works.",
        )
