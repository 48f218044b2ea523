"""Whether an index was made the way the settings say: what is compared, and what to do when it was not."""

from __future__ import annotations

from medcite_core.errors import IndexMismatch
from medcite_core.ports import IndexIdentity


def check_identity(stored: IndexIdentity, wanted: IndexIdentity, place: str, elsewhere: str) -> None:
    """Refuse `wanted` unless the index was made that way; a dimension of 0 is one that is not known yet.

    `place` names the index in the message; `elsewhere` is the setting that puts a new one in another place.

    Raises:
        IndexMismatch: names what the index was made with, what is set now, and what to do.
    """
    old, new = stored.embedder, wanted.embedder
    pairs = [
        ("model", old.model, new.model),
        ("revision", old.revision, new.revision),
        ("pooling", old.pooling, new.pooling),
        ("query prompt", old.query_prompt, new.query_prompt),
        ("dimension", old.dimension, new.dimension or old.dimension),
        ("chunk size", stored.chunk_size, wanted.chunk_size),
        ("chunk overlap", stored.chunk_overlap, wanted.chunk_overlap),
        ("template", stored.template, wanted.template),
    ]
    differing = [f"{name} {a!r}, now {b!r}" for name, a, b in pairs if a != b]
    rebuild = " (or this one anew: `medcite index rebuild`)" if "OPENSEARCH" in elsewhere else ""
    if differing:
        raise IndexMismatch(
            f"{place} was made with model {old.model!r} ({old.dimension} dimensions), "
            f"the settings name {new.model!r} ({new.dimension or 'unknown'} dimensions); "
            f"different are: {'; '.join(differing)}",
            f"Set MEDCITE_EMBEDDING__MODEL={old.model} (and chunk size {stored.chunk_size}, overlap "
            f"{stored.chunk_overlap}) back, or build a new index with another {elsewhere}{rebuild}.",
        )
