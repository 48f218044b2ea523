"""medcite's search as a LangChain retriever, for chains written with langchain-core."""

from __future__ import annotations

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from medcite_core.filters import SearchFilter
from medcite_core.types import Passage
from medcite_middleware.retrieval.hybrid import Retriever


class MedciteRetriever(BaseRetriever):
    """The passages that bear on a question, as documents; none when nothing in the corpus does.

    Cheap to make, and without state: make one for each request that has a filter of its own. `invoke` and `ainvoke`
    both work; the search runs in a thread for the second.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    retriever: Retriever
    search_filter: SearchFilter = SearchFilter()
    k: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager  # LangChain's signature; the search has no steps of its own to report
        result = self.retriever.search(query, self.search_filter, self.k)
        return [_document(passage) for passage in result.relevant]


def _document(passage: Passage) -> Document:
    record, chunk = passage.record, passage.chunk
    return Document(
        id=chunk.id,
        page_content=chunk.text,
        metadata={
            "pmid": record.pmid,
            "chunk_id": chunk.id,
            "span": [chunk.span.start, chunk.span.end],
            "section": chunk.section,
            "title": record.title,
            "year": record.year,
            "status": record.status,
            "score": passage.score,
            "cosine": passage.cosine,
        },
    )
