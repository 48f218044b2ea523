"""An embedder that exists at once and loads its model on demand or in a background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import structlog

from medcite_core.errors import EmbedderUnavailable, InvalidInput, MedciteError
from medcite_core.ports import EmbedderIdentity, Vectors

_log = structlog.get_logger(__name__)


class Encoder(Protocol):
    """A loaded model. `encode` gives unit rows, float32, in the order of the texts, which are not blank."""

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        ...

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Shape (len(texts), dimension); the query prompt is applied when `is_query`."""
        ...


class BackgroundEmbedder:
    """The `Embedder` port over any `Encoder`. Calls made while it loads wait; calls made before load it themselves.

    `retry_every_s`: a failed start is tried again that often in the background (an endpoint may come up later).
    """

    def __init__(
        self, identity: EmbedderIdentity, load: Callable[[], Encoder], *, retry_every_s: float | None = None
    ) -> None:
        self._identity = identity
        self._load = load
        self._retry_every_s = retry_every_s
        self._loading = threading.Lock()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._encoder: Encoder | None = None
        self._problem = ""

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors must agree on. Loads the model only where its dimension cannot be known otherwise.

        The dimension is 0 while such a model cannot be reached: an index that exists opens all the same, for words.
        """
        if not self._identity.dimension and not self._problem:
            with suppress(EmbedderUnavailable):
                self._ready()
        return self._identity

    @property
    def state(self) -> Literal["ready", "loading", "failed"]:
        """Whether it can embed now."""
        if self._encoder is not None:
            return "ready"
        return "failed" if self._problem else "loading"

    @property
    def problem(self) -> str:
        """Why it failed, in one line; empty otherwise."""
        return self._problem

    def start(self) -> None:
        """Begin to load in a daemon thread; returns at once. Calling it again does nothing."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="medcite-embedder", daemon=True)
                self._thread.start()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), unit rows, in order.

        Raises:
            InvalidInput: a text is blank.
            EmbedderUnavailable: the model cannot be loaded or reached.
        """
        for position, text in enumerate(texts):
            if not text.strip():
                raise InvalidInput(f"text {position} is blank and cannot be embedded", "Leave blank texts out.")
        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        return self._ready().encode(texts, is_query=False)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Shape (dimension,), a unit vector, with the model's query prompt applied. Raises as `embed_passages`."""
        if not text.strip():
            raise InvalidInput("a blank query cannot be embedded", "Type a question.")
        row: npt.NDArray[np.float32] = self._ready().encode([text], is_query=True)[0]
        return row

    def _run(self) -> None:
        pause = threading.Event()
        while self._encoder is None:
            try:
                self._ready()
            except MedciteError as error:
                if self._retry_every_s is None or not error.retryable:
                    return
                pause.wait(self._retry_every_s)

    def _ready(self) -> Encoder:
        encoder = self._encoder
        if encoder is not None:
            return encoder
        with self._loading:
            if self._encoder is None:
                self._encoder = self._loaded()
            return self._encoder

    def _loaded(self) -> Encoder:
        model = self._identity.model
        try:
            encoder = self._load()
            self._check_dimension(encoder)
        except MedciteError as error:
            self._problem = error.message
            _log.warning("embedder_failed", model=model, problem=error.message)
            raise
        except Exception as error:
            # Loading runs code of many packages; whatever fails in it must leave search by words working.
            self._problem = f"the embedding model {model} could not be loaded: {type(error).__name__}: {error}"[:400]
            _log.warning("embedder_failed", model=model, problem=self._problem)
            raise EmbedderUnavailable(self._problem) from error
        self._identity = replace(self._identity, dimension=encoder.dimension)
        self._problem = ""
        _log.info("embedder_ready", model=model, dimension=encoder.dimension)
        return encoder

    def _check_dimension(self, encoder: Encoder) -> None:
        expected = self._identity.dimension
        if expected and encoder.dimension != expected:
            raise EmbedderUnavailable(
                f"the model {self._identity.model} gives vectors of {encoder.dimension} numbers, not {expected}",
                "MEDCITE_EMBEDDING__MODEL names another model than the one that answers.",
            )
