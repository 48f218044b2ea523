"""Logging of one process: structured lines on standard error, each with the request id if there is one."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

# Third parties that tell their own story at INFO, or whose lines could hold what a person typed.
QUIET = (
    "httpx",
    "httpcore",
    "openai",
    "urllib3",
    "transformers",
    "sentence_transformers",
    "datasets",
    "uvicorn.access",
)


def set_up_logging(level: str, *, as_json: bool = False) -> None:
    """Send everything of `level` and above to standard error, in plain lines or `as_json`, one value a line.

    Lines of other libraries take the same form. Access logs stay off: addresses can hold what people ask.
    """
    is_live = sys.stderr.isatty() and not as_json
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if is_live else "iso", utc=not is_live),
        _with_request_id,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=is_live, exception_formatter=structlog.dev.plain_traceback)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").setLevel(logging.ERROR)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _with_request_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Every line has the field, so that a line outside any request says so."""
    event.setdefault("request_id", "")
    return event
