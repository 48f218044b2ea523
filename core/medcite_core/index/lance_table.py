"""Opens and creates the LanceDB tables of an index, keeps their search indexes, puts engine failures into words."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from medcite_core.errors import IndexBroken, IndexMissing, InvalidInput
from medcite_core.index.identity import check_identity
from medcite_core.index.lance_rows import LIST_COLUMNS, chunk_schema, stored_identity, tombstone_schema
from medcite_core.index.query_text import STOP_WORDS
from medcite_core.ports import IndexIdentity

CHUNKS, TOMBSTONES = "chunks", "tombstones"
VECTOR_INDEX_ROWS = 20_000
"""With fewer chunks an exact scan is as quick as a vector index."""
_VECTOR_INDEX = "vector_lists_"
# A reader that started on an old version needs its files for as long as one search takes; an hour is far more.
_READABLE_VERSIONS = timedelta(hours=1)

# "lance error: LanceError(IO): " before a message, and the place in the engine's own source after it.
_ENGINE_NOISE = re.compile(r"^lance error: |LanceError\(\w+\): |, \S+\.rs:\d+:\d+")
_BROKEN_HINT = (
    "Check free disk space and permissions of the data folder (`medcite doctor` looks at both). If files were damaged, "
    "move the folder away and load the records again."
)

log = logging.getLogger(__name__)


@contextmanager
def engine_errors(action: str, place: Path) -> Iterator[None]:
    """Raise `IndexBroken` that says what failed, for whatever the engine raises inside."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        reason = _ENGINE_NOISE.sub("", first_line)[:300]
        raise IndexBroken(f"{action} failed for the index in {place}: {reason}", _BROKEN_HINT) from error


def open_tables(path: Path, identity: IndexIdentity, *, create: bool) -> tuple[Any, Any, IndexIdentity]:
    """The chunk table, the tombstone table and the identity stored with them.

    Raises:
        IndexMissing: there is none and `create` is false.
        IndexMismatch: it was made in another way than `identity` says, or by another format of medcite.
        IndexBroken: it cannot be read or created.
    """
    if not _exists(path):
        if not create:
            raise IndexMissing(f"there is no index in {path}")
        if identity.embedder.dimension < 1:
            raise InvalidInput("the embedding model's dimension is not known yet; an index cannot be created")
        _create(path, identity)
    with engine_errors("opening", path):
        database = _connect(path)
        chunks, tombstones = database.open_table(CHUNKS), database.open_table(TOMBSTONES)
        schema = chunks.schema
    stored = stored_identity(schema, f"the index in {path}")
    check_identity(stored, identity, f"the index in {path}", "MEDCITE_DATA_DIR")
    missing = _missing_indexes(chunks, path)
    if missing:
        # The process that created the index was killed before it had made them all.
        with engine_errors("creating search indexes", path):
            _create_indexes(chunks, missing)
    return chunks, tombstones, stored


def _connect(path: Path) -> Any:
    import lancedb

    # Zero: every read looks for the newest version, so that a running service sees what another process loaded.
    return lancedb.connect(path, read_consistency_interval=timedelta(0))


def _exists(path: Path) -> bool:
    if path.exists() and not path.is_dir():
        raise IndexBroken(f"{path} is a file where the folder of an index should be")
    try:
        folder = path / f"{CHUNKS}.lance"
        if not folder.is_dir():
            return False
        has_version = any((folder / "_versions").glob("*.manifest"))
        if not has_version and any(file.is_file() for file in folder.rglob("*")):
            raise IndexBroken(
                f"the index in {path} has data but no list of versions",
                "Restore the folder from a copy, or move it away and load the records again.",
            )
    except OSError as error:
        raise IndexBroken(f"{path} cannot be read: {error.strerror}") from error
    return has_version


def _create(path: Path, identity: IndexIdentity) -> None:
    from filelock import FileLock

    with engine_errors("creating", path):
        path.mkdir(parents=True, exist_ok=True)
        with FileLock(path / "write.lock"):
            if _exists(path):
                return
            database = _connect(path)
            database.create_table(TOMBSTONES, schema=tombstone_schema(), exist_ok=True)
            # Last, because this is what makes an index exist.
            chunks = database.create_table(CHUNKS, schema=chunk_schema(identity))
            _create_indexes(chunks, _wanted_indexes())


def _wanted_indexes() -> dict[str, Any]:
    from lancedb.index import FTS, Bitmap, BTree, LabelList

    words = {"language": "English", "stem": True, "lower_case": True, "ascii_folding": True, "max_token_length": 200}
    full_text = FTS(with_position=True, remove_stop_words=True, custom_stop_words=STOP_WORDS, **words)
    return {
        "search_text": full_text,
        "record_text": full_text,
        "pmid": BTree(),
        "year": BTree(),
        "is_head": Bitmap(),
        "has_pmcid": Bitmap(),
        "is_retracted": Bitmap(),
        **{name: LabelList() for name in LIST_COLUMNS},
    }


def _missing_indexes(chunks: Any, path: Path) -> dict[str, Any]:
    with engine_errors("opening", path):
        present = {column for index in chunks.list_indices() for column in index.columns}
    return {column: config for column, config in _wanted_indexes().items() if column not in present}


def _create_indexes(chunks: Any, wanted: dict[str, Any]) -> None:
    for column, config in wanted.items():
        chunks.create_index(column, config=config, replace=True)


def vector_lists(chunks: Any) -> int:
    """Inverted lists of the vector index; 0 without one, when vectors are searched exactly."""
    names = [index.name for index in chunks.list_indices() if "vector" in index.columns]
    return int(names[0].removeprefix(_VECTOR_INDEX)) if names else 0


def list_count(rows: int) -> int:
    """Lists a vector index of so many rows should have: half the root, 500 for a million (the engine's advice)."""
    return max(16, round(math.sqrt(rows) / 2))


def bring_up_to_date(chunks: Any, dimension: int) -> None:
    """Compact, take new rows into the indexes, and make the vector index once the table is large enough for one."""
    chunks.optimize(cleanup_older_than=_READABLE_VERSIONS)
    rows = int(chunks.count_rows())
    lists, trained = list_count(rows), vector_lists(chunks)
    # An index grows with its rows, but its lists stay those of its training: train again at four times the rows.
    if rows < VECTOR_INDEX_ROWS or lists < 2 * trained:
        return
    log.info("index.vectors.train", extra={"rows": rows, "lists": lists})
    if trained:
        chunks.drop_index(f"{_VECTOR_INDEX}{trained}")
    chunks.create_index("vector", config=_vector_config(lists, dimension), name=f"{_VECTOR_INDEX}{lists}")


def _vector_config(lists: int, dimension: int) -> Any:
    from lancedb.index import IvfFlat, IvfRq

    options: dict[str, Any] = {"distance_type": "cosine", "num_partitions": lists}
    # RaBitQ codes pack eight dimensions in a byte.
    return IvfRq(**options) if dimension % 8 == 0 else IvfFlat(**options)
