"""The one tree of errors: each has a stable code, a hint a person can act on, and says whether trying again helps."""

from __future__ import annotations

from typing import ClassVar


class MedciteError(Exception):
    """Something that stops one request, one batch item or one command.

    `message` says what happened, `hint` what a person can do about it. `code` is stable and meant for programs.
    """

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "Run `medcite doctor`; if it finds nothing, report this with the request id."

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint


class InvalidInput(MedciteError):
    """What the caller sent cannot be used as it is."""

    code = "invalid_input"
    http_status = 422
    default_hint = "Change the input as the message says."


class UnknownKey(InvalidInput):
    """A key of a filter, setting or body that does not exist; the message names the nearest one."""

    code = "unknown_key"


class InvalidSettings(MedciteError):
    """A setting is misspelt or out of range."""

    code = "invalid_settings"
    default_hint = "`medcite config` lists every setting, its value and where it came from."


class NotFound(MedciteError):
    """The thing asked for does not exist here."""

    code = "not_found"
    http_status = 404
    default_hint = "Check the identifier."


class SourceUnreadable(MedciteError):
    """A file or document cannot be read."""

    code = "source_unreadable"
    http_status = 422
    default_hint = "Check that the file is whole and of the expected format."


class IndexMissing(MedciteError):
    """No index where one was expected, or an empty one."""

    code = "index_missing"
    http_status = 503
    default_hint = "Load records first: `medcite ingest files PATH…`, or try the demo corpus with `medcite up`."


class IndexMismatch(MedciteError):
    """The index was built with another model, prompt or chunking than the settings name."""

    code = "index_mismatch"
    http_status = 409
    default_hint = "Set the embedding settings back, or build a new index in another MEDCITE_DATA_DIR."


class IndexBroken(MedciteError):
    """The index on disk cannot be opened or written."""

    code = "index_broken"
    http_status = 503
    default_hint = "Check free disk space and permissions of the data folder; `medcite doctor` looks at both."


class IndexUnreachable(MedciteError):
    """The cluster that holds the index does not answer."""

    code = "index_unreachable"
    retryable = True
    http_status = 503
    default_hint = "Check MEDCITE_OPENSEARCH__HOSTS and that the cluster runs; medcite goes on by itself once it does."


class IndexRefused(IndexUnreachable):
    """The cluster does not let us in, or is not the one it says it is."""

    code = "index_refused"
    retryable = False


class EmbedderUnavailable(MedciteError):
    """The embedding model cannot be loaded or reached; search by words still works."""

    code = "embedder_unavailable"
    retryable = True
    http_status = 503
    default_hint = "Check MEDCITE_EMBEDDING__* and `medcite doctor`; search by words still works."


class ModelUnavailable(MedciteError):
    """The chat model did not answer: down, slow, refusing, or not a chat model at all."""

    code = "model_unavailable"
    retryable = True
    http_status = 502
    default_hint = (
        "Check MEDCITE_LLM__BASE_URL and that the model server runs; MEDCITE_LLM__PROVIDER=none answers by quotation."
    )


class ModelRefused(ModelUnavailable):
    """The chat model's server will not take the request: key, model name or request are wrong."""

    code = "model_refused"
    retryable = False
    default_hint = "Check MEDCITE_LLM__API_KEY, MEDCITE_LLM__MODEL and MEDCITE_LLM__BASE_URL; `medcite doctor` helps."


class ModelReplyCut(ModelUnavailable):
    """The chat model's reply ended before it was complete."""

    code = "model_reply_cut"
    default_hint = "Ask again, or raise MEDCITE_LLM__MAX_TOKENS."


class Busy(MedciteError):
    """Too many requests are running."""

    code = "busy"
    retryable = True
    http_status = 429
    default_hint = "Wait a moment and ask again."


class NotReady(MedciteError):
    """What was asked for is still being made."""

    code = "not_ready"
    retryable = True
    http_status = 409
    default_hint = "Wait a moment and ask again."


class PortInUse(MedciteError):
    """The port to listen on is taken."""

    code = "port_in_use"
    default_hint = "Choose another with --port, or stop the program that holds it."
