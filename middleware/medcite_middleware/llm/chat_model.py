"""Builds the chat model that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from medcite_core.errors import InvalidSettings
from medcite_core.settings import LLMSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

HUGGING_FACE_ROUTER = "https://router.huggingface.co/v1"
# The client library insists on a key; servers on one's own machine want none.
_NO_KEY = "no-key-needed"
_CHECK_TIMEOUT_S = 5.0


class NotAChatReply(Exception):
    """The server answered with a web page where a chat reply was due; the message is its content type."""


def _keep_prompts_here() -> None:
    """Switch LangSmith off, whatever the environment says: what people ask goes to the chosen model and nobody else."""
    import langsmith

    langsmith.configure(enabled=False)


def build_chat_model(settings: LLMSettings) -> BaseChatModel | None:
    """The chat model, ready to stream; None when answers are to be made of quotations. Contacts nobody.

    The model does not retry by itself: `llm.streaming` does, where it knows whether text has been shown already.

    Raises:
        InvalidSettings: model or base URL are missing or not usable.
    """
    if settings.provider == "none":
        return None
    _check(settings)
    _keep_prompts_here()
    if settings.provider == "huggingface":
        from medcite_middleware.llm.hugging_face import build_hugging_face_model

        return build_hugging_face_model(settings)
    return _build_openai_model(settings)


def describe_model(settings: LLMSettings) -> dict[str, str]:
    """What an answer's versions say of the model; nothing secret, no address."""
    if settings.provider == "none":
        return {"llm": "none"}
    return {
        "llm": f"{settings.provider}:{settings.model or 'endpoint'}",
        "llm_temperature": f"{settings.temperature:g}",
    }


async def check_reachable(settings: LLMSettings) -> str:
    """What is wrong with the chat model's endpoint, in one sentence; empty when it answers or none is set.

    Asks for the list of models, so no tokens are spent; waits five seconds at most.
    """
    import httpx

    if settings.provider == "none":
        return ""
    try:
        _check(settings)
    except InvalidSettings as error:
        return error.message
    base = settings.base_url or HUGGING_FACE_ROUTER
    key = settings.api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = min(_CHECK_TIMEOUT_S, settings.timeout_s)
    try:
        async with httpx.AsyncClient(timeout=timeout) as client:
            response = await client.get(f"{base.rstrip('/')}/models", headers=headers)
    except httpx.TimeoutException:
        return f"the model server at {display_address(base)} did not answer within {timeout:g} s"
    except httpx.HTTPError as error:
        return f"the model server at {display_address(base)} cannot be reached ({type(error).__name__})"
    return _listing_problem(response.status_code, response.headers.get("content-type", ""), response.content, settings)


def _listing_problem(status: int, content_type: str, body: bytes, settings: LLMSettings) -> str:
    import json

    place = display_address(settings.base_url or HUGGING_FACE_ROUTER)
    if status in (401, 403):
        return f"{place} refuses the key (HTTP {status}); set MEDCITE_LLM__API_KEY"
    if status in (404, 405):
        # Not every chat server lists its models; a missing list is no proof of a missing server.
        return f"{place} answers HTML, not an API" if "html" in content_type else ""
    if status >= 400:
        return f"{place} answers HTTP {status}"
    try:
        listing = json.loads(body)
        names = {str(model["id"]) for model in listing["data"]}
    except (ValueError, KeyError, TypeError):
        return f"{place} does not answer like an OpenAI-compatible server; the base URL usually ends in /v1"
    if settings.provider == "openai" and names and settings.model not in names:
        shown = ", ".join(sorted(names)[:5])
        return f"{place} does not list the model {settings.model!r}; it lists {shown}"
    return ""


def display_address(base_url: str) -> str:
    """Scheme, host, port and path of an address, without user, password or query."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _check(settings: LLMSettings) -> None:
    is_hosted = settings.provider == "huggingface" and not settings.base_url
    if not settings.model and not (settings.provider == "huggingface" and settings.base_url):
        raise InvalidSettings(
            f"the chat model has no name (provider {settings.provider})",
            "Set MEDCITE_LLM__MODEL to the name the endpoint knows, or MEDCITE_LLM__PROVIDER=none.",
        )
    if is_hosted:
        return
    if not settings.base_url:
        raise InvalidSettings(
            "the chat model has no address",
            "Set MEDCITE_LLM__BASE_URL, for example http://127.0.0.1:11434/v1 (Ollama) or https://api.openai.com/v1.",
        )
    try:
        parts = urlsplit(settings.base_url)
        is_usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidSettings(
            "MEDCITE_LLM__BASE_URL is not a web address", "It starts with http:// or https:// and usually ends in /v1."
        )
    if parts.username or parts.password:
        raise InvalidSettings(
            "MEDCITE_LLM__BASE_URL holds a user name or password",
            "Leave it out of the address and put the key into MEDCITE_LLM__API_KEY.",
        )


async def refuse_web_pages(response: Any) -> None:
    """Hook of the HTTP client: a page of HTML with status 200 is no reply, and would read as an empty one."""
    content_type = response.headers.get("content-type", "")
    if response.status_code < 400 and "html" in content_type:
        raise NotAChatReply(content_type.partition(";")[0])


def _build_openai_model(settings: LLMSettings) -> BaseChatModel:
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient
    from pydantic import SecretStr

    options: dict[str, Any] = {}
    if (urlsplit(settings.base_url).hostname or "").endswith("openai.com"):
        options["max_completion_tokens"] = settings.max_tokens
    else:
        # Servers that copy the older API know `max_tokens` alone and ignore the newer name in silence.
        options["extra_body"] = {"max_tokens": settings.max_tokens}
    return ChatOpenAI(
        model=settings.model,
        base_url=settings.base_url,
        # Always our own key: the one in OPENAI_API_KEY must not travel to somebody else's server.
        api_key=SecretStr(settings.api_key.get_secret_value() or _NO_KEY),
        temperature=settings.temperature,
        timeout=settings.timeout_s,
        max_retries=0,
        stream_usage=False,
        stream_chunk_timeout=None,
        use_responses_api=False,
        # One connection a reply: nothing idles between questions, and none outlives its event loop.
        default_headers={"Connection": "close"},
        http_async_client=DefaultAsyncHttpxClient(
            timeout=settings.timeout_s, event_hooks={"response": [refuse_web_pages]}
        ),
        **options,
    )
