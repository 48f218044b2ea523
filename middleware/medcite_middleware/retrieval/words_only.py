"""An embedder that is never ready: with it, a search goes by words alone because that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from medcite_core.errors import EmbedderUnavailable
from medcite_core.ports import EmbedderIdentity


class WordsOnly:
    """Stands where an embedder is expected. `identity` is that of the index, whose vectors are then not used."""

    state: Literal["failed"] = "failed"
    problem = "as was asked for"

    def __init__(self, identity: EmbedderIdentity) -> None:
        self.identity = identity

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:  # noqa: ARG002 - the port's name
        """Always EmbedderUnavailable."""
        raise EmbedderUnavailable("this search goes by words alone")

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:  # noqa: ARG002 - the port's name
        """Always EmbedderUnavailable."""
        raise EmbedderUnavailable("this search goes by words alone")
