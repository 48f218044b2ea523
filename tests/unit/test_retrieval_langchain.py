"""medcite's search inside LangChain: sync, async, and in a chain with a model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from support.small_corpus import RECORDS, WordHashEmbedder, small_index, small_settings

from medcite_core.errors import InvalidInput
from medcite_core.filters import SearchFilter
from medcite_middleware.retrieval.hybrid import Retriever
from medcite_middleware.retrieval.langchain_retriever import MedciteRetriever

QUESTION = "Does aspirin lower recurrent stroke?"


@pytest.fixture
def retriever(tmp_path: Path) -> Retriever:
    embedder = WordHashEmbedder()
    settings = small_settings(tmp_path)
    return Retriever(small_index(settings, embedder), embedder, settings.retrieval)


def test_documents_carry_what_leads_back_to_the_exact_words(retriever: Retriever) -> None:
    document = MedciteRetriever(retriever=retriever).invoke(QUESTION)[0]
    metadata = document.metadata
    start, end = metadata["span"]
    assert RECORDS[0].text[start:end] == document.page_content
    assert document.id == metadata["chunk_id"]
    assert (metadata["pmid"], metadata["title"], metadata["year"], metadata["status"]) == (
        "101",
        RECORDS[0].title,
        2015,
        "no_notice",
    )
    assert 0 < metadata["score"] <= 1
    assert metadata["section"] in ("title", "BACKGROUND", "RESULTS")


def test_a_retracted_record_says_so_in_its_metadata(retriever: Retriever) -> None:
    found = MedciteRetriever(retriever=retriever).invoke("Does zetamab cure asthma?")
    assert found[0].metadata["status"] == "retracted"


def test_async_gives_the_same_documents(retriever: Retriever) -> None:
    langchain = MedciteRetriever(retriever=retriever)
    assert asyncio.run(langchain.ainvoke(QUESTION)) == langchain.invoke(QUESTION)


def test_filter_and_k_are_applied(retriever: Retriever) -> None:
    filtered = MedciteRetriever(retriever=retriever, search_filter=SearchFilter(year_to=2010), k=1)
    found = filtered.invoke("Does warfarin increase bleeding after aspirin?")
    assert [document.metadata["pmid"] for document in found] == ["102"]


def test_nothing_relevant_gives_no_documents(retriever: Retriever) -> None:
    assert MedciteRetriever(retriever=retriever).invoke("Quark gluon plasma viscosity") == []


def test_a_bad_question_is_an_error_not_an_empty_answer(retriever: Retriever) -> None:
    with pytest.raises(InvalidInput):
        MedciteRetriever(retriever=retriever).invoke("???")


def test_it_works_in_a_chain_that_streams(retriever: Retriever) -> None:
    seen: list[str] = []

    def numbered(documents: list[Document]) -> str:
        return "\n".join(f"[{n}] {document.page_content}" for n, document in enumerate(documents, start=1))

    def keep(prompt: PromptValue) -> PromptValue:
        seen.append(prompt.to_string())
        return prompt

    chain = (
        {"context": MedciteRetriever(retriever=retriever, k=2) | numbered, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("{context}\n\n{question}")
        | RunnableLambda(keep)
        | GenericFakeChatModel(messages=iter([AIMessage("Aspirin lowered stroke [1].")]))
        | StrOutputParser()
    )
    assert "".join(chain.stream(QUESTION)) == "Aspirin lowered stroke [1]."
    assert "[1] " in seen[0]
    assert "Aspirin" in seen[0]
    assert seen[0].endswith(QUESTION)
