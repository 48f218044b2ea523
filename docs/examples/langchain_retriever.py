"""A question chain of one's own, in LangChain's expression language, over medcite's search.

Run it with the demo corpus: `python docs/examples/langchain_retriever.py`. A stand-in writes the answer; put any chat
model of LangChain in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableParallel, RunnablePassthrough

from medcite.assembly import open_demo, wait_for_embedder
from medcite_core.filters import SearchFilter
from medcite_core.settings import load_settings
from medcite_middleware.retrieval.hybrid import Retriever
from medcite_middleware.retrieval.langchain_retriever import MedciteRetriever

QUESTION = "Is smoking associated with the risk of nasopharyngeal carcinoma?"
PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the abstracts only. Name the PMID behind each sentence."),
        ("human", "{abstracts}\n\nQuestion: {question}"),
    ]
)


def demo_retriever(data_dir: Path | None = None) -> BaseRetriever:
    """medcite's search over the demo corpus, for records from 2005 on; at most four passages."""
    settings = load_settings({"data_dir": data_dir}).settings
    corpus = open_demo(settings, lambda *_, **__: None)
    # Until the model is loaded, searches go by words alone.
    wait_for_embedder(corpus.embedder)
    search = Retriever(corpus.index, corpus.embedder, settings.retrieval)
    return MedciteRetriever(retriever=search, search_filter=SearchFilter(year_from=2005), k=4)


def joined(documents: list[Document]) -> str:
    """The passages as a prompt shows them."""
    return "\n\n".join(f"PMID {d.metadata['pmid']} ({d.metadata['year']}): {d.page_content}" for d in documents)


def question_chain(retriever: BaseRetriever, model: BaseChatModel) -> Runnable[str, dict[str, Any]]:
    """From a question to `answer` and the `documents` it was written from."""
    answer = (
        RunnablePassthrough.assign(abstracts=lambda given: joined(given["documents"]))
        | PROMPT
        | model
        | StrOutputParser()
    )
    return RunnableParallel(question=RunnablePassthrough(), documents=retriever) | RunnablePassthrough.assign(
        answer=answer
    )


def main() -> None:
    """Ask the demo corpus one question."""
    model = FakeListChatModel(responses=["(here your chat model writes its answer)"])
    result = question_chain(demo_retriever(), model).invoke(QUESTION)
    print(result["answer"])
    for document in result["documents"]:
        start, end = document.metadata["span"]
        print(f"PMID {document.metadata['pmid']}, characters {start} to {end}: {document.page_content[:80]}")


if __name__ == "__main__":
    main()
