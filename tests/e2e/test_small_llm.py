"""A small real language model writes an answer: what streams, ends and fails is real; what it says is not judged."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.records import a_record, evidence_of
from support.small_llm import SmallLLM

from medcite_core.answers import CITATION_MARK
from medcite_core.errors import ModelRefused, ModelReplyCut
from medcite_core.settings import LLMSettings
from medcite_middleware.answering.generated import GeneratedAnswer
from medcite_middleware.answering.prompting import count_tokens, user_message
from medcite_middleware.llm.chat_model import build_chat_model, check_reachable
from medcite_middleware.verification.claims import split_claims

pytestmark = [pytest.mark.llm, pytest.mark.slow]

EVIDENCE = evidence_of(
    a_record("100", "Aspirin in primary prevention.", [("", "", "Aspirin lowered the risk of heart attacks by 11%.")]),
    a_record("200", "Aspirin and bleeding.", [("", "", "Aspirin raised the risk of major bleeding by 43%.")]),
)
QUESTION = "What does aspirin do to the risk of heart attacks and bleeding?"


def a_writer(llm: SmallLLM, provider: str = "openai", **changes: object) -> GeneratedAnswer:
    values = {"base_url": llm.base_url, "model": llm.model, "context_tokens": llm.context_tokens, "timeout_s": 120}
    settings = LLMSettings.model_validate({"provider": provider, **values, "max_tokens": 80, **changes})
    model = build_chat_model(settings)
    assert model is not None
    return GeneratedAnswer(model, settings)


def read(writer: GeneratedAnswer, question: str = QUESTION) -> tuple[list[str], bool]:
    """The pieces, and whether the answer is whole: at eighty tokens the small model may not come to an end."""

    async def collect() -> tuple[list[str], bool]:
        pieces: list[str] = []
        try:
            async for piece in writer.stream(question, EVIDENCE):
                pieces.append(piece)
        except ModelReplyCut:
            return pieces, False
        return pieces, True

    return asyncio.run(collect())


@pytest.mark.parametrize("provider", ["openai", "huggingface"])
def test_a_model_s_reply_comes_token_by_token(small_llm: SmallLLM, provider: str) -> None:
    settings = LLMSettings.model_validate(
        {"provider": provider, "base_url": small_llm.base_url, "model": small_llm.model, "max_tokens": 24}
    )
    model = build_chat_model(settings)
    assert model is not None

    async def collect() -> list[str]:
        return [chunk.text async for chunk in model.astream("Tell me a story about a doctor.") if chunk.text]

    assert 10 < len(asyncio.run(collect())) <= 24


@pytest.mark.parametrize("provider", ["openai", "huggingface"])
def test_an_answer_streams_and_its_sentences_become_claims_with_their_citations(
    small_llm: SmallLLM, provider: str
) -> None:
    pieces, _ = read(a_writer(small_llm, provider))
    text = "".join(pieces)
    assert text.strip()
    for claim in split_claims(text):
        assert claim.span.of(text) == claim.text
        assert bool(claim.cited) == bool(CITATION_MARK.search(claim.text))


def test_the_server_is_reachable_and_counts_fewer_tokens_than_we_allow_for(small_llm: SmallLLM) -> None:
    import httpx

    settings = LLMSettings(provider="openai", base_url=small_llm.base_url, model=small_llm.model)
    assert "cannot be reached" not in asyncio.run(check_reachable(settings))
    message = user_message(QUESTION, EVIDENCE)
    root = small_llm.base_url.removesuffix("/v1")
    tokens = httpx.post(f"{root}/tokenize", json={"content": message}, timeout=30).json()["tokens"]
    assert len(tokens) <= count_tokens(message) <= 2 * len(tokens)


def test_stopping_early_frees_the_model_for_the_next_question(small_llm: SmallLLM) -> None:
    writer = a_writer(small_llm, max_tokens=400)

    async def stop() -> float:
        async for _ in (stream := writer.stream(QUESTION, EVIDENCE)):
            break
        since = time.monotonic()
        await stream.aclose()
        return time.monotonic() - since

    assert asyncio.run(stop()) < 2.0
    assert read(a_writer(small_llm))[0]


def test_a_prompt_longer_than_the_window_is_refused_by_the_server_in_words(small_llm: SmallLLM) -> None:
    writer = a_writer(small_llm, context_tokens=100_000)

    async def ask() -> None:
        async for _ in writer.stream("Why? " * 6000, EVIDENCE):
            pass

    with pytest.raises(ModelRefused) as caught:
        asyncio.run(ask())
    assert "HTTP 400" in caught.value.message
    assert "MEDCITE_LLM__CONTEXT_TOKENS" in caught.value.hint
