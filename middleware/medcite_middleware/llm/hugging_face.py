"""Hugging Face inference: the hosted providers, or an endpoint of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from medcite_core.settings import LLMSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def build_hugging_face_model(settings: LLMSettings) -> BaseChatModel:
    """`ChatHuggingFace` over the repository `settings.model`, or over the endpoint `settings.base_url`."""
    from langchain_huggingface import ChatHuggingFace, HuggingFaceEndpoint

    key = settings.api_key.get_secret_value() or None
    place: dict[str, Any] = {"endpoint_url": settings.base_url} if settings.base_url else {"repo_id": settings.model}
    endpoint = HuggingFaceEndpoint(
        **place,
        huggingfacehub_api_token=key,
        max_new_tokens=settings.max_tokens,
        temperature=settings.temperature,
        top_p=None,
        timeout=max(1, round(settings.timeout_s)),
    )
    endpoint.async_client = _inference_client(settings, key)
    # `model_kwargs` go into each request: an endpoint that serves several models is told which one is meant.
    options = {"model_kwargs": {"model": settings.model}} if settings.base_url and settings.model else {}
    return ChatHuggingFace(
        llm=endpoint, temperature=settings.temperature, max_tokens=settings.max_tokens, stream_usage=False, **options
    )


def _inference_client(settings: LLMSettings, key: str | None) -> Any:
    import httpx
    from huggingface_hub import AsyncInferenceClient

    from medcite_middleware.llm.chat_model import refuse_web_pages

    class ClosingInferenceClient(AsyncInferenceClient):
        """Streams on a connection that is closed as soon as nobody reads on.

        The library's own client (1.33) leaves a stream open until the client itself is closed, and cuts lines at
        U+2028 and U+0085, which are ordinary characters inside an event.
        """

        async def _inner_post(self, request_parameters: Any, *, stream: bool = False) -> Any:
            if settings.base_url:
                request_parameters.headers = _own_headers(request_parameters.headers, key)
            if stream:
                return _lines(request_parameters, settings.timeout_s)
            return await super()._inner_post(request_parameters, stream=False)

    async def _lines(request: Any, timeout_s: float) -> AsyncIterator[str]:
        async with (
            httpx.AsyncClient(timeout=timeout_s, event_hooks={"response": [refuse_web_pages]}) as client,
            client.stream("POST", request.url, json=request.json, headers=request.headers) as response,
        ):
            if response.is_error:
                await response.aread()
                response.raise_for_status()
            rest = b""
            async for block in response.aiter_bytes():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    yield line.rstrip(b"\r").decode("utf-8")
            if rest:
                yield rest.decode("utf-8")

    if settings.base_url:
        return ClosingInferenceClient(base_url=settings.base_url, timeout=settings.timeout_s)
    return ClosingInferenceClient(model=settings.model, api_key=key, timeout=settings.timeout_s)


def _own_headers(headers: Mapping[str, str], key: str | None) -> dict[str, str]:
    """The headers for an endpoint of one's own: the key that was set for it, never the saved Hugging Face login."""
    kept = {name: value for name, value in headers.items() if name.lower() != "authorization"}
    return {**kept, "authorization": f"Bearer {key}"} if key else kept
