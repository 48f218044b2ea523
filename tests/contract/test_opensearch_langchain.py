"""LangChain's own OpenSearch store reads an index that medcite wrote, by the original project's field names.

The package is archived upstream: nothing of medcite depends on it; this is for those who come from the original.
"""

from __future__ import annotations

import uuid
import warnings

import pytest
from langchain_core.embeddings import Embeddings
from support.opensearch_node import opensearch_node

from medcite_core.index.opensearch_index import OpenSearchIndex
from medcite_core.settings import OpenSearchSettings
from medcite_core.types import PartialDate

pytestmark = pytest.mark.cluster


@pytest.fixture
def store(made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.vectorstores import OpenSearchVectorSearch

    class ByWords(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return [float(x) for x in made.embed(text)]

    name = f"t{uuid.uuid4().hex[:20]}"
    index = OpenSearchIndex(OpenSearchSettings(hosts=(opensearch_node(),), index=name), made.identity)
    made.load(
        index,
        *(
            made.record(p, f"Study {p}", f"RESULTS: finding {word}.", date=PartialDate(2000 + p, 3, raw="x"))
            for p, word in enumerate("alpha beta gamma delta epsilon".split(), start=1)
        ),
    )
    return OpenSearchVectorSearch(opensearch_url=opensearch_node(), index_name=name, embedding_function=ByWords())


def test_the_nearest_chunks_are_found_through_the_graph_with_their_fields(store) -> None:
    found = store.similarity_search(
        "finding gamma.", k=3, vector_field="embedding", text_field="chunk", metadata_field="*"
    )
    assert len(found) == 3
    assert found[0].page_content == "finding gamma."
    assert (found[0].metadata["pmid"], found[0].metadata["year"], found[0].metadata["month"]) == (3, 2003, 3)


def test_its_default_field_name_is_an_alias_that_exact_scoring_follows(store) -> None:
    found = store.similarity_search(
        "finding delta.",
        k=3,
        search_type="script_scoring",
        space_type="cosinesimil",
        text_field="chunk",
        metadata_field="*",
        pre_filter={"term": {"kind": "chunk"}},
    )
    assert found[0].page_content == "finding delta."
