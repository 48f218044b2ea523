"""Reads an index that the original project made: a document for each chunk, with its vector; no whole records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.errors import IndexBroken, IndexMissing
from medcite_core.index.checks import checked_vector
from medcite_core.index.opensearch_client import build_client, cluster_errors
from medcite_core.index.opensearch_search import ClusterSearch
from medcite_core.settings import OpenSearchSettings

_SAMPLE, _PAGE = 200, 500
_UNIT = 1e-3
_NEEDED = ("pmid", "chunk_id", "title", "chunk")
_VECTOR_FIELDS = ("embedding", "vector_field")
_DEFAULT_SPACE = "l2"
"""What the engine compares by when a mapping names nothing."""


@dataclass(frozen=True, slots=True)
class OriginalChunk:
    """A chunk as that project stored it. `vector` has shape (dimension,), float32, as stored."""

    pmid: str
    chunk_id: int
    title: str
    text: str
    year: int | None
    month: int | None
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class OriginalSummary:
    """What such an index holds.

    `metric` is the space its graph was built for (cosinesimil, l2, innerproduct …), `is_metric_written` whether the
    mapping names it. `norms` are the least and the greatest length among the sampled vectors. `without_pmid` counts
    chunks that name no record.
    """

    name: str
    chunks: int
    without_pmid: int
    dimension: int
    vector_field: str
    engine: str
    metric: str
    is_metric_written: bool
    norms: tuple[float, float]
    missing_fields: tuple[str, ...]

    @property
    def ranks_by_cosine(self) -> bool:
        """Whether its own k-NN search orders by cosine: by its metric, or because all vectors have length 1."""
        low, high = self.norms
        are_unit = abs(low - 1) <= _UNIT and abs(high - 1) <= _UNIT
        return self.metric == "cosinesimil" or (self.metric in ("l2", "innerproduct") and are_unit)


class OriginalIndex:
    """An index of the original project's, opened to read. Nothing in it is ever changed."""

    def __init__(self, settings: OpenSearchSettings, name: str) -> None:
        """Open the index or alias `name`.

        Raises:
            IndexMissing: there is none.
            IndexBroken: it has no vectors beside texts, as that project's indexes have.
            IndexUnreachable: no host answers.
        """
        from opensearchpy.exceptions import NotFoundError

        self._client = build_client(settings)
        self._name = name
        self._place = f"the index {name} on {', '.join(settings.hosts)}"
        with cluster_errors("opening", self._place):
            try:
                mappings = self._client.indices.get_mapping(index=name)
            except NotFoundError:
                raise IndexMissing(f"there is no {self._place}", "`_cat/indices` of the cluster lists them.") from None
        if len(mappings) != 1:
            raise IndexBroken(f"{self._place} stands for {len(mappings)} indexes", "Name one of them.")
        self._properties: dict[str, Any] = next(iter(mappings.values()))["mappings"].get("properties", {})
        vectors = [f for f in _VECTOR_FIELDS if self._properties.get(f, {}).get("type") == "knn_vector"]
        if not vectors or "chunk" not in self._properties:
            raise IndexBroken(
                f"{self._place} has no field `chunk` with a knn_vector `embedding` beside it",
                "It is not an index of the original project.",
            )
        self._vector_field = vectors[0]
        self._search = ClusterSearch(self._client, name)

    def summary(self) -> OriginalSummary:
        """Counts, dimension and metric: the mapping is read, and a sample of the vectors is measured."""
        field = self._properties[self._vector_field]
        method = field.get("method") or {}
        space = method.get("space_type") or field.get("space_type")
        with cluster_errors("reading", self._place):
            total = self._search.count([])
            without = self._search.count([{"bool": {"must_not": [{"exists": {"field": "pmid"}}]}}])
            sample = {"size": _SAMPLE, "_source": [self._vector_field], "query": {"match_all": {}}}
            hits = self._search.search(sample)["hits"]["hits"]
        norms = [float(np.linalg.norm(hit["_source"][self._vector_field])) for hit in hits]
        return OriginalSummary(
            self._name,
            total,
            without,
            int(field["dimension"]),
            self._vector_field,
            str(method.get("engine") or "the cluster's default"),
            str(space or _DEFAULT_SPACE),
            bool(space),
            (min(norms), max(norms)) if norms else (0.0, 0.0),
            tuple(name for name in (*_NEEDED, "year", "month") if name not in self._properties),
        )

    def chunks(self) -> Iterator[OriginalChunk]:
        """Every chunk that names a record, as of the moment the reading began; a few hundred in memory at once."""
        body = {"query": {"exists": {"field": "pmid"}}, "sort": [{"_shard_doc": "asc"}]}
        pages = self._search.pages(body, _PAGE)
        while True:
            with cluster_errors("reading", self._place):
                page = next(pages, None)
            if page is None:
                return
            yield from (self._chunk(hit["_source"]) for hit in page)

    def pmids(self) -> list[str]:
        """The PMIDs of its records, in order, each once: what `medcite ingest pmids` fetches whole."""
        found: set[int] = set()
        body = {"query": {"exists": {"field": "pmid"}}, "sort": [{"_shard_doc": "asc"}], "_source": ["pmid"]}
        with cluster_errors("reading PMIDs", self._place):
            for page in self._search.pages(body, 10_000):
                found.update(number for hit in page if (number := _pmid(hit["_source"]["pmid"])) is not None)
        return [str(number) for number in sorted(found)]

    def nearest(self, vector: npt.NDArray[np.float32], k: int) -> list[tuple[OriginalChunk, float]]:
        """The k nearest chunks by cosine, compared one by one, whatever metric the graph was built for.

        Raises:
            InvalidInput: the vector has another dimension or no direction.
        """
        wanted = checked_vector(vector, int(self._properties[self._vector_field]["dimension"]))
        params = {"field": self._vector_field, "query_value": wanted.tolist(), "space_type": "cosinesimil"}
        script = {"lang": "knn", "source": "knn_score", "params": params}
        body = {"size": k, "query": {"script_score": {"query": {"match_all": {}}, "script": script}}}
        with cluster_errors("searching by meaning", self._place):
            hits = self._search.search(body)["hits"]["hits"]
        found = [self._chunk(hit["_source"]) for hit in hits]
        # From the stored vectors: what an engine calls a score differs by version and mode.
        return [(chunk, _cosine(chunk.vector, wanted)) for chunk in found]

    def _chunk(self, source: dict[str, Any]) -> OriginalChunk:
        return OriginalChunk(
            str(source.get("pmid", "")),
            int(source.get("chunk_id") or 0),
            str(source.get("title") or ""),
            str(source.get("chunk") or ""),
            _whole(source.get("year")),
            _whole(source.get("month")),
            np.asarray(source[self._vector_field], dtype=np.float32),
        )


def _cosine(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float:
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return max(-1.0, min(1.0, float(a @ b) / length)) if length else 0.0


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _pmid(value: Any) -> int | None:
    number = _whole(value)
    return number if number is not None and number > 0 else None
