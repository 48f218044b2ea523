"""Says in words why a chat model did not answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from medcite_core.errors import ModelRefused, ModelReplyCut, ModelUnavailable
from medcite_core.settings import LLMSettings
from medcite_middleware.llm.chat_model import HUGGING_FACE_ROUTER, NotAChatReply, display_address

_MAX_SERVER_WORDS = 200
# Statuses after which the same request may well succeed.
RETRYABLE_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_QUOTING_STATUSES = frozenset({400, 404, 413})


def explain_failure(error: Exception, settings: LLMSettings, *, chars_so_far: int = 0) -> ModelUnavailable:
    """The error to raise for what the client library raised.

    `chars_so_far` is how much of the reply had come: above 0 the reply is cut, and that is the message. The server's
    own words are only passed on for a few statuses, shortened, with the key taken out: they may repeat what was sent.
    """
    place = display_address(settings.base_url or HUGGING_FACE_ROUTER)
    if chars_so_far:
        what = "stopped sending" if is_timeout(error) else "broke off its reply"
        return ModelReplyCut(
            f"the model server at {place} {what} after {chars_so_far} characters",
            "What had come is not a whole answer. Ask again; if it happens again, look at the model server's log.",
        )
    page = _first(error, NotAChatReply)
    if page is not None:
        return ModelRefused(
            f"{place} answered with a web page ({page}) instead of a chat reply",
            "Check MEDCITE_LLM__BASE_URL: it usually ends in /v1. A login page or proxy may stand before the server.",
        )
    status = status_of(error)
    if status is not None:
        return _explain_status(status, error, settings, place)
    if is_timeout(error):
        return ModelUnavailable(
            f"the model server at {place} sent nothing for {settings.timeout_s:g} s",
            "It may still be loading the model; ask again, or raise MEDCITE_LLM__TIMEOUT_S.",
        )
    if is_connection_failure(error):
        return ModelUnavailable(f"the model server at {place} cannot be reached ({_network_words(error)})")
    if _first(error, json.JSONDecodeError, UnicodeDecodeError) is not None or "No generation chunks" in str(error):
        return ModelUnavailable(
            f"{place} answered, but not like a chat model",
            "Check MEDCITE_LLM__BASE_URL: it must be an OpenAI-compatible address, usually ending in /v1.",
        )
    return ModelUnavailable(f"the model server at {place} failed{_server_words(error, settings)}")


def _explain_status(status: int, error: Exception, settings: LLMSettings, place: str) -> ModelUnavailable:
    words = _server_words(error, settings) if status in _QUOTING_STATUSES else ""
    if status in (401, 403):
        return ModelRefused(f"{place} refuses the key (HTTP {status})", "Set MEDCITE_LLM__API_KEY to a valid key.")
    if status == 404:
        return ModelRefused(
            f"{place} does not know the model {settings.model!r} or the address (HTTP 404){words}",
            "Check MEDCITE_LLM__MODEL and MEDCITE_LLM__BASE_URL; `medcite doctor` lists the models it offers.",
        )
    if status == 429:
        return ModelUnavailable(
            f"{place} takes no more requests for now (HTTP 429)", "Wait a little, or check the account's limits."
        )
    if status in (400, 413, 422):
        return ModelRefused(
            f"{place} does not accept the request (HTTP {status}){words}",
            "If it names the context length, set MEDCITE_LLM__CONTEXT_TOKENS to the model's window.",
        )
    return ModelUnavailable(
        f"the model server at {place} failed (HTTP {status})",
        "Ask again in a moment; if it happens again, look at the model server's log.",
    )


def status_of(error: Exception) -> int | None:
    """The HTTP status behind an error of openai, huggingface-hub or httpx, if there was a reply."""
    for link in _chain(error):
        for holder in (link, getattr(link, "response", None)):
            status = getattr(holder, "status_code", None)
            if isinstance(status, int):
                return status
    return None


def retry_after_s(error: Exception) -> float:
    """Seconds that the server asked to wait; 0 when it did not."""
    for link in _chain(error):
        headers = getattr(getattr(link, "response", None), "headers", None)
        if headers is not None:
            try:
                return max(0.0, float(headers.get("retry-after", "0")))
            except ValueError:
                return 0.0
    return 0.0


def is_worth_retrying(error: Exception) -> bool:
    """Whether the same request may succeed in a moment. Not after a timeout: that has cost its wait already."""
    if _first(error, NotAChatReply) is not None or is_timeout(error):
        return False
    status = status_of(error)
    return status in RETRYABLE_STATUSES if status is not None else is_connection_failure(error)


def is_timeout(error: Exception) -> bool:
    """Whether the wait was too long."""
    return any(isinstance(link, TimeoutError) or "Timeout" in type(link).__name__ for link in _chain(error))


def is_connection_failure(error: Exception) -> bool:
    """Whether the network failed, before or during a reply."""
    # By name: openai 3 speaks through httpx2, huggingface-hub through httpx; they share no base class.
    names = ("ConnectError", "ReadError", "WriteError", "RemoteProtocolError", "APIConnectionError", "CloseError")
    return any(
        isinstance(link, ConnectionError) or any(base.__name__ in names for base in type(link).__mro__)
        for link in _chain(error)
    )


def _network_words(error: Exception) -> str:
    for link in _chain(error):
        if isinstance(link, OSError) and link.strerror:
            # asyncio puts the address into its text; the system's own words are plainer.
            return (os.strerror(link.errno) if link.errno and link.errno > 0 else link.strerror).lower()
    deepest = list(_chain(error))[-1]
    return str(deepest)[:_MAX_SERVER_WORDS] or type(deepest).__name__


def _server_words(error: Exception, settings: LLMSettings) -> str:
    """The message a server gave with its error, as ` : …`; empty without one."""
    text = ""
    for link in _chain(error):
        body = getattr(link, "body", None)
        if isinstance(body, dict):
            text = str(body.get("message") or "")
        elif response := getattr(link, "response", None):
            text = _message_in(response)
        elif isinstance(link, Exception) and type(link).__module__.startswith(("openai", "huggingface_hub")):
            text = str(link)
        if text:
            break
    key = settings.api_key.get_secret_value()
    text = " ".join((text.replace(key, "***") if key else text).split())
    return f": {text[:_MAX_SERVER_WORDS]}" if text else ""


def _message_in(response: Any) -> str:
    try:
        body = response.json()
    except (ValueError, RuntimeError):
        return ""
    error = body.get("error", body) if isinstance(body, dict) else {}
    return str(error.get("message") or "") if isinstance(error, dict) else str(error)


def _first(error: Exception, *kinds: type[BaseException]) -> BaseException | None:
    return next((link for link in _chain(error) if isinstance(link, kinds)), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
