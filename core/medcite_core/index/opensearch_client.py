"""Talks to an OpenSearch cluster: one client from the settings, failures put into words, bulk writes cut by bytes."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from medcite_core.errors import IndexBroken, IndexRefused, IndexUnreachable
from medcite_core.settings import OpenSearchSettings

log = logging.getLogger(__name__)

_WAITS_S = (0.5, 1, 2, 4, 8, 15, 15, 15, 15)
"""Pauses before a bulk request that the cluster was too busy for is sent again; a circuit breaker closes in these."""

Action = dict[str, Any]
"""One bulk action: `op` (index, create, delete), `_id`, its `source` unless it deletes, conditions."""


def build_client(settings: OpenSearchSettings) -> Any:
    """A client for all hosts; a request that one of them does not answer goes to another. Safe for several threads."""
    from opensearchpy import OpenSearch

    options: dict[str, Any] = {}
    if settings.username:
        options["http_auth"] = (settings.username, settings.password.get_secret_value())
    if any(host.startswith("https:") for host in settings.hosts):
        options.update(use_ssl=True, verify_certs=settings.verify_certs, ssl_show_warn=False)
        if settings.ca_certs:
            options["ca_certs"] = settings.ca_certs
    return OpenSearch(
        list(settings.hosts),
        timeout=settings.timeout_s,
        max_retries=max(2, 2 * len(settings.hosts)),
        retry_on_timeout=True,
        retry_on_status=(502, 503, 504),
        maxsize=32,
        **options,
    )


@contextmanager
def cluster_errors(action: str, place: str) -> Iterator[None]:
    """Raise `IndexUnreachable` or `IndexBroken` that says what failed, for whatever the client raises inside."""
    from opensearchpy import exceptions as fault

    try:
        yield
    except fault.SSLError as error:
        raise IndexRefused(
            f"{action} failed for {place}: its certificate is not trusted ({_short(error)})",
            "Name the authority's certificate in MEDCITE_OPENSEARCH__CA_CERTS.",
        ) from error
    except (fault.ConnectionTimeout, fault.ConnectionError) as error:
        raise IndexUnreachable(f"{action} failed: {place} does not answer ({_short(error)})") from error
    except fault.AuthenticationException as error:
        raise IndexRefused(
            f"{action} failed: {place} does not accept the user name or password",
            "Check MEDCITE_OPENSEARCH__USERNAME and MEDCITE_OPENSEARCH__PASSWORD.",
        ) from error
    except fault.TransportError as error:
        if _is_block(_short(error)):
            raise IndexBroken(f"{action} was refused by {place}: {_short(error)}", _FULL_HINT) from error
        if isinstance(error, fault.AuthorizationException):
            hint = "Give the user the rights that installation_instructions.md lists."
            raise IndexBroken(f"{action} was refused by {place}: {_short(error)}", hint) from error
        if error.status_code in (429, 502, 503, 504):
            raise IndexUnreachable(f"{action} failed: {place} is too busy or not ready ({_short(error)})") from error
        raise IndexBroken(f"{action} failed for {place}: {_short(error)}", _HINT) from error
    except fault.OpenSearchException as error:
        raise IndexBroken(f"{action} failed for {place}: {_short(error)}", _HINT) from error


_HINT = "`medcite doctor` looks at the cluster; its own log says more."


_FULL_HINT = "The disk is nearly full: free space, then the cluster lifts the block by itself."


def _is_block(reason: str) -> bool:
    """Whether writes are blocked until somebody frees space, so that waiting is of no use."""
    return "read-only" in reason or "read_only" in reason


def _short(error: Any) -> str:
    info = getattr(error, "info", None)
    if isinstance(info, dict):
        cause = info.get("error", info)
        if isinstance(cause, dict):
            roots = cause.get("root_cause") or [cause]
            reason = roots[0].get("reason") or cause.get("reason") or cause.get("type")
            if reason:
                return str(reason)[:300]
        return str(cause)[:300]
    text = str(getattr(error, "error", "") or error)
    return " ".join(text.split())[:200]


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """A bulk action that the cluster did not carry out, and why."""

    doc_id: str
    status: int
    reason: str


class BulkWriter:
    """Sends bulk actions in requests of bounded bytes. A request that is too large for the cluster is cut in halves."""

    def __init__(self, client: Any, index: str, max_bytes: int, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._index = index
        self._max_bytes = max_bytes
        self._sleep = sleep

    def send(self, actions: Sequence[Action]) -> list[ItemFailure]:
        """Carry out `actions` in order; returns those that failed for a reason of their own.

        Raises:
            TransportError: the cluster took none of them, however long it was waited for.
        """
        failures: list[ItemFailure] = []
        part: list[tuple[Action, str]] = []
        size = 0
        for action in actions:
            lines = _lines(action)
            length = len(lines.encode("utf-8"))
            if part and size + length > self._max_bytes:
                failures += self._send_part(part)
                part, size = [], 0
            part.append((action, lines))
            size += length
        if part:
            failures += self._send_part(part)
        return failures

    def _send_part(self, part: list[tuple[Action, str]]) -> list[ItemFailure]:
        from opensearchpy.exceptions import TransportError

        busy = 0
        while True:
            try:
                reply = self._client.bulk(body="".join(lines for _, lines in part), index=self._index)
            except TransportError as error:
                is_too_large = error.status_code == 413
                is_busy = error.status_code == 429 and not _is_block(_short(error))
                if not (is_too_large or is_busy):
                    raise
                # A node that refuses the same request twice will not take it the third time: it is too large.
                if len(part) > 1 and (is_too_large or busy >= 2):
                    middle = len(part) // 2
                    return self._send_part(part[:middle]) + self._send_part(part[middle:])
                if is_too_large:
                    reason = "larger than the cluster takes in one request"
                    return [ItemFailure(action["_id"], 413, reason) for action, _ in part]
                if busy >= len(_WAITS_S):
                    raise
                log.warning("opensearch.bulk.busy", extra={"actions": len(part), "waits": busy + 1})
                self._sleep(_WAITS_S[busy])
                busy += 1
                continue
            failed = _failures(reply)
            again = {f.doc_id for f in failed if f.status == 429 and not _is_block(f.reason)}
            if not again or busy >= len(_WAITS_S):
                return failed
            kept = [f for f in failed if f.doc_id not in again]
            self._sleep(_WAITS_S[busy])
            busy += 1
            rest = [(action, lines) for action, lines in part if action["_id"] in again]
            return kept + self._send_part(rest)


def _lines(action: Action) -> str:
    head = {key: value for key, value in action.items() if key not in ("op", "source")}
    first = json.dumps({action["op"]: head}, ensure_ascii=True)
    if action["op"] == "delete":
        return f"{first}\n"
    return f"{first}\n{json.dumps(action['source'], ensure_ascii=True, separators=(',', ':'))}\n"


def _failures(reply: dict[str, Any]) -> list[ItemFailure]:
    if not reply.get("errors"):
        return []
    failed = []
    for item in reply["items"]:
        op, result = next(iter(item.items()))
        # What is deleted already is as it should be.
        if "error" not in result or (op == "delete" and result.get("status") == 404):
            continue
        error = result["error"]
        reason = error.get("reason", error.get("type", "")) if isinstance(error, dict) else str(error)
        failed.append(ItemFailure(str(result.get("_id", "")), int(result.get("status", 0)), str(reason)[:300]))
    return failed
