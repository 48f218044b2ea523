"""The chat model that settings name, and what is said when they do not name one that can be used."""

from __future__ import annotations

import asyncio

import pytest
from support.llm_server import LLMServer, Reply

from medcite_core.errors import InvalidSettings
from medcite_core.settings import LLMSettings
from medcite_middleware.llm.chat_model import build_chat_model, check_reachable, describe_model

KEY = "sk-very-secret"


def settings(**values: object) -> LLMSettings:
    return LLMSettings.model_validate({"provider": "openai", "model": "stub-model", "api_key": KEY, **values})


def test_no_provider_is_no_model() -> None:
    assert build_chat_model(LLMSettings()) is None
    assert describe_model(LLMSettings()) == {"llm": "none"}
    assert asyncio.run(check_reachable(LLMSettings())) == ""


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"base_url": "http://127.0.0.1:1/v1", "model": ""}, "has no name"),
        ({"base_url": ""}, "has no address"),
        ({"base_url": "127.0.0.1:8080/v1"}, "not a web address"),
        ({"base_url": "http://[::1/v1"}, "not a web address"),
        ({"base_url": "http://127.0.0.1:99999/v1"}, "not a web address"),
        ({"base_url": f"http://me:{KEY}@127.0.0.1:1/v1"}, "holds a user name or password"),
        ({"provider": "huggingface", "model": ""}, "has no name"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_a_hint(values: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidSettings, match=words) as caught:
        build_chat_model(settings(**values))
    assert "MEDCITE_LLM__" in caught.value.hint + caught.value.message
    assert KEY not in caught.value.message + caught.value.hint
    assert words in asyncio.run(check_reachable(settings(**values)))


@pytest.mark.parametrize("provider", ["openai", "huggingface"])
def test_a_model_never_shows_its_key(provider: str) -> None:
    chosen = settings(provider=provider, base_url="http://127.0.0.1:1/v1")
    model = build_chat_model(chosen)
    assert KEY not in f"{model!r} {model} {chosen!r} {describe_model(chosen)}"


def test_a_key_of_another_service_in_the_environment_stays_at_home(
    llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"):
        monkeypatch.setenv(name, "sk-of-another-service")
    for provider in ("openai", "huggingface"):
        model = build_chat_model(settings(provider=provider, api_key="", base_url=llm_server.base_url))
        assert model is not None

        async def read(chat: object = model) -> None:
            async for _ in chat.astream("Hi"):  # type: ignore[attr-defined]
                pass

        asyncio.run(read())
    assert len(llm_server.chats) == 2
    assert not any("another" in value for seen in llm_server.chats for value in seen.headers.values())


def test_prompts_are_traced_to_nobody_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith.utils import tracing_is_enabled

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "some-key")
    build_chat_model(LLMSettings(provider="openai", base_url="http://127.0.0.1:9/v1", model="m"))
    assert not tracing_is_enabled()


def test_openai_itself_gets_the_newer_name_of_the_token_limit() -> None:
    model = build_chat_model(settings(base_url="https://api.openai.com/v1"))
    payload = model._get_request_payload([("user", "Hi")])  # type: ignore[union-attr]
    assert payload["max_completion_tokens"] == 500
    assert "max_tokens" not in payload.get("extra_body", {})


def test_a_server_that_answers_is_reachable(llm_server: LLMServer) -> None:
    assert asyncio.run(check_reachable(settings(base_url=llm_server.base_url))) == ""
    assert llm_server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert llm_server.chats == []


@pytest.mark.parametrize(
    ("status", "models", "words"),
    [
        (401, [], "refuses the key"),
        (500, [], "HTTP 500"),
        (200, ["llama", "qwen"], "does not list the model 'stub-model'"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(llm_server: LLMServer, status: int, models: list[str], words: str) -> None:
    llm_server.models_status, llm_server.models = status, models
    assert words in asyncio.run(check_reachable(settings(base_url=llm_server.base_url)))


def test_a_server_without_a_list_of_models_may_still_chat(llm_server: LLMServer) -> None:
    llm_server.models_status = 404
    assert asyncio.run(check_reachable(settings(base_url=llm_server.base_url))) == ""


def test_a_server_that_is_down_is_said_to_be() -> None:
    server = LLMServer()
    server.stop()
    assert "cannot be reached" in asyncio.run(check_reachable(settings(base_url=server.base_url)))


def test_whole_replies_work_too(llm_server: LLMServer) -> None:
    llm_server.script(Reply(("Yes.",)))
    model = build_chat_model(settings(base_url=llm_server.base_url))
    assert model is not None
    assert model.invoke("Hi").content == "Yes."
