"""The vectors that ship with the demo corpus, so that its first start does not wait for the embedding model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from medcite_core.errors import SourceUnreadable
from medcite_core.ports import IndexIdentity, Vectors

VECTORS_FILE = "vectors.npz"


@dataclass(frozen=True, slots=True)
class ShippedVectors:
    """Row i is the vector of chunk `chunk_ids[i]`; shape (chunks, dimension), float16."""

    identity: IndexIdentity
    min_chunk_chars: int
    chunk_ids: tuple[str, ...]
    rows: npt.NDArray[np.float16]

    def write(self, path: Path) -> None:
        """Save for `read`."""
        about = {"identity": self.identity.to_dict(), "min_chunk_chars": self.min_chunk_chars}
        np.savez_compressed(
            path,
            rows=self.rows,
            chunk_ids=np.array("\n".join(self.chunk_ids)),
            about=np.array(json.dumps(about, sort_keys=True)),
        )

    @classmethod
    def read(cls, path: Path) -> ShippedVectors:
        """Load what `write` saved.

        Raises:
            SourceUnreadable: the file is missing or damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                about = json.loads(str(stored["about"]))
                chunk_ids = tuple(str(stored["chunk_ids"]).split("\n"))
                rows = stored["rows"]
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise SourceUnreadable(f"cannot read {path.name}: {error}", "Install medcite again.") from error
        if len(chunk_ids) != len(rows):
            raise SourceUnreadable(f"{path.name} has {len(rows)} vectors for {len(chunk_ids)} chunks")
        return cls(IndexIdentity.from_dict(about["identity"]), about["min_chunk_chars"], chunk_ids, rows)

    def unit_rows(self, wanted_ids: list[str]) -> Vectors:
        """Float32 vectors of length 1 for exactly these chunks, in this order.

        Raises:
            SourceUnreadable: a chunk has no vector here: the file was made from other records or another chunker.
        """
        places = {chunk_id: place for place, chunk_id in enumerate(self.chunk_ids)}
        missing = [chunk_id for chunk_id in wanted_ids if chunk_id not in places]
        if missing:
            raise SourceUnreadable(
                f"{len(missing)} of {len(wanted_ids)} chunks have no shipped vector, the first is {missing[0]}",
                "Run scripts/build_demo_vectors.py.",
            )
        rows = self.rows[[places[chunk_id] for chunk_id in wanted_ids]].astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
