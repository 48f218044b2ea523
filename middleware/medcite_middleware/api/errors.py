"""One shape for every error that leaves the service: code, message, hint, retryable, request id; no traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from medcite_core.errors import InvalidInput, MedciteError
from medcite_middleware.events import ErrorOut


class ErrorBody(BaseModel):
    """What every reply with a status of 400 or more holds."""

    error: ErrorOut


def error_response(
    status: int,
    code: str,
    message: str,
    hint: str = "",
    *,
    retryable: bool = False,
    request_id: str = "",
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """A reply in the shape of `ErrorBody`."""
    error = ErrorOut(
        code=code,
        message=message,
        hint=hint or MedciteError.default_hint,
        retryable=retryable,
        request_id=request_id,
    )
    return JSONResponse(ErrorBody(error=error).model_dump(), status, headers=headers)


def medcite_error_response(error: MedciteError, request_id: str) -> JSONResponse:
    """The reply for one of our own errors."""
    headers = {"Retry-After": "2"} if error.http_status == 429 else None
    return error_response(
        error.http_status,
        error.code,
        error.message,
        error.hint,
        retryable=error.retryable,
        request_id=request_id,
        headers=headers,
    )


def request_id_of(request: Request) -> str:
    """The id that `Guard` gave to this request."""
    return str(getattr(request.state, "request_id", ""))


def add_error_handlers(app: FastAPI) -> None:
    """Make `app` answer every kind of error in our shape."""

    def on_medcite_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, MedciteError)
        return medcite_error_response(error, request_id_of(request))

    def on_bad_body(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        status, code, message, hint = _explain(error.errors())
        return error_response(status, code, message, hint, request_id=request_id_of(request))

    def on_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code, message, hint = _HTTP_ERRORS.get(
            error.status_code, ("http_error", "the request was refused", InvalidInput.default_hint)
        )
        return error_response(
            error.status_code,
            code,
            message,
            hint,
            request_id=request_id_of(request),
            headers=dict(error.headers) if error.headers else None,
        )

    app.add_exception_handler(MedciteError, on_medcite_error)
    app.add_exception_handler(RequestValidationError, on_bad_body)
    app.add_exception_handler(HTTPException, on_http_error)


_HTTP_ERRORS = {
    400: ("invalid_input", "the request cannot be read", "Send a JSON object."),
    403: (
        "other_site",
        "pages of other sites may not call this address",
        "Name the site's origin in MEDCITE_SERVER__CORS_ORIGINS.",
    ),
    404: ("not_found", "there is nothing at this address", "GET /openapi.json lists the addresses."),
    405: ("method_not_allowed", "this address does not take that method", "GET /openapi.json lists the methods."),
    415: ("unsupported_media_type", "the body must be JSON", "Send it with Content-Type: application/json."),
}


def _explain(problems: Sequence[Any]) -> tuple[int, str, str, str]:
    """Status, code, message and hint for what pydantic found; only the first problem is told."""
    first = problems[0]
    kind = first["type"]
    place = ".".join(str(part) for part in first["loc"][1:])
    if kind == "json_invalid":
        return 400, "invalid_json", "the body is not valid JSON", "Check quotes, commas and brackets."
    if not place:
        return 422, "invalid_input", "the body must be a JSON object", 'For example {"question": "…"}.'
    if kind == "missing":
        return 422, "invalid_input", f"{place} is missing", f"Add {place} to the body."
    return 422, "invalid_input", f"{place}: {first['msg']}", InvalidInput.default_hint


def require_json(request: Request) -> None:
    """Refuse a body of another type. A form on another site can send text/plain or form data, but not JSON."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if media_type != "application/json":
        raise HTTPException(415)


def client_errors() -> dict[int | str, dict[str, Any]]:
    """How the errors that a caller can cause are described in OpenAPI."""
    meanings = {
        400: "Not JSON.",
        403: "Called by a page of another site.",
        404: "Not there.",
        413: "Too large.",
        415: "Not sent as JSON.",
        422: "Something in the request cannot be used; the message says what.",
        429: "Too many questions at once.",
        502: "The chat model failed.",
        503: "The index or a model is not available.",
    }
    return {status: {"model": ErrorBody, "description": text} for status, text in meanings.items()}
