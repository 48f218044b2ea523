"""Asks PubMed through NCBI's E-utilities: searches, and records by PMID, politely and completely.

Biopython's `Entrez` has the addresses in its functions and no setting for them, and reads no reply without a document
type; so the requests are our own, with its pace, and the records go through our parser.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from xml.etree.ElementTree import Element, ParseError, XMLParser

import httpx
import structlog

from medcite_core.errors import MedciteError
from medcite_core.settings_ncbi import NcbiSettings
from medcite_core.types import ParseProblem, Record, Tombstone
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

log = structlog.get_logger(__name__)

PACE_S, PACE_WITH_KEY_S = 0.37, 0.11
"""Between two requests: a little more than NCBI's rule of three a second, or ten with a key."""
_WAITS_S = (1, 2, 4, 8, 16, 30, 60)
_LONGEST_WAIT_S = 120.0
_TOOL = "medcite"
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_ERROR = re.compile(rb"<ERROR>(.*?)</ERROR>|\"error\"\s*:\s*\"([^\"]+)\"", re.IGNORECASE | re.DOTALL)


class PubMedUnavailable(MedciteError):
    """NCBI cannot be reached, or does not serve us; what was fetched before stays."""

    code = "pubmed_unavailable"
    retryable = True
    http_status = 502
    default_hint = (
        "Run the same command again later: it goes on where it was. MEDCITE_NCBI__API_KEY allows more requests."
    )


class PubMedRefused(PubMedUnavailable):
    """NCBI answers that the request is wrong; asking again is of no use."""

    code = "pubmed_refused"
    retryable = False
    default_hint = "Check the query, MEDCITE_NCBI__API_KEY and MEDCITE_NCBI__BASE_URL."


@dataclass(frozen=True, slots=True)
class SearchReply:
    """What a search found: `count` in all, some `pmids` of them, and how PubMed understood it.

    `not_understood` are words that PubMed dropped; it searched for the rest.
    """

    count: int
    pmids: tuple[str, ...]
    translation: str = ""
    not_understood: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedBatch:
    """The records that one request gave, as they came (`xml`); `missing` were asked for and are not among them."""

    xml: bytes
    pmids: tuple[str, ...]
    missing: tuple[str, ...]


class EutilsClient:
    """One client of NCBI, for one thread; it keeps the pace over all of its requests."""

    def __init__(
        self,
        settings: NcbiSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._sleep = sleep
        self._now = now
        self._last = -1e9
        self._http = httpx.Client(timeout=settings.timeout_s, headers={"User-Agent": _TOOL}, follow_redirects=True)

    def close(self) -> None:
        """Give the connection back."""
        self._http.close()

    def search(self, term: str, *, limit: int, start: int = 0, sort: str = "") -> SearchReply:
        """The first `limit` PMIDs of a search, from `start` on.

        Raises:
            PubMedUnavailable, PubMedRefused: no answer, or one that is an error.
        """
        values = {"db": "pubmed", "term": term, "retmode": "xml", "retmax": str(limit), "retstart": str(start)}
        root = _document(self._post("esearch.fcgi", {**values, **({"sort": sort} if sort else {})}), "eSearchResult")
        try:
            count = int(root.findtext("Count") or "")
        except ValueError:
            raise PubMedRefused("PubMed's reply to the search names no count", "Try again later.") from None
        dropped = [
            found.text or ""
            for path in ("ErrorList/PhraseNotFound", "ErrorList/FieldNotFound")
            for found in root.findall(path)
        ]
        warnings = [found.text or "" for found in root.iterfind("WarningList/*")]
        return SearchReply(
            count,
            tuple(found.text or "" for found in root.findall("IdList/Id")),
            root.findtext("QueryTranslation") or "",
            tuple(filter(None, dropped)),
            tuple(filter(None, warnings)),
        )

    def fetch(self, pmids: Sequence[str]) -> FetchedBatch:
        """The records of `pmids` as PubMed XML, whole: a reply that is cut short is asked for again.

        Raises:
            PubMedUnavailable, PubMedRefused: no answer, or one that is an error.
        """
        for attempt in range(self._settings.retries + 1):
            body = self._post(
                "efetch.fcgi", {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml", "rettype": "abstract"}
            )
            got, problem = _read_records(body)
            if not problem:
                return FetchedBatch(body, got, tuple(pmid for pmid in pmids if pmid not in set(got)))
            log.warning("efetch_cut", problem=problem, attempt=attempt + 1)
            if attempt < self._settings.retries:
                self._sleep(_WAITS_S[min(attempt, len(_WAITS_S) - 1)])
        raise PubMedUnavailable(f"PubMed's reply was cut short {self._settings.retries + 1} times: {problem}")

    # ------------------------------------------------------------ requests

    def _post(self, tool: str, values: dict[str, str]) -> bytes:
        """The body of a reply that is no error; waits and asks again while NCBI is busy or broken."""
        sent = {**values, "tool": _TOOL}
        if self._settings.email:
            sent["email"] = self._settings.email
        if key := self._settings.api_key.get_secret_value():
            sent["api_key"] = key
        reason = ""
        for attempt in range(self._settings.retries + 1):
            self._keep_pace()
            wait = float(_WAITS_S[min(attempt, len(_WAITS_S) - 1)])
            try:
                reply = self._http.post(f"{self._settings.base_url.rstrip('/')}/{tool}", data=sent)
                body = reply.content
            except httpx.HTTPError as error:
                reason = f"no answer ({type(error).__name__})"
            else:
                reason = _what_is_wrong(reply, body)
                if not reason:
                    return body
                if reply.status_code in (400, 401, 403, 404, 405, 413, 414, 422):
                    raise PubMedRefused(f"PubMed refused the request: {reason}")
                wait = _retry_after(reply, wait)
            if attempt < self._settings.retries:
                log.info("eutils_again", tool=tool, wait_s=wait, attempt=attempt + 1)
                self._sleep(wait)
        raise PubMedUnavailable(f"cannot get an answer of NCBI at {self._settings.base_url}: {reason}")

    def _keep_pace(self) -> None:
        pace = PACE_WITH_KEY_S if self._settings.api_key.get_secret_value() else PACE_S
        wait = self._last + pace - self._now()
        if wait > 0:
            self._sleep(wait)
        self._last = self._now()


def _what_is_wrong(reply: httpx.Response, body: bytes) -> str:
    """What a reply says is wrong, in its own words; empty for an XML document without an error.

    The body decides, not the status or the type it claims: errors come with 200, as HTML, text, JSON and XML.
    """
    start = body[:2048].lstrip().lower()
    found = _ERROR.search(body[:20_000])
    if found:
        return _plain(found.group(1) or found.group(2))
    if start.startswith((b"<!doctype html", b"<html")):
        title = _TITLE.search(body[:20_000])
        return f"a page instead of records: “{_plain(title.group(1)) if title else 'untitled'}”"
    if reply.status_code != httpx.codes.OK or not start.startswith(b"<"):
        return _plain(body[:300]) or f"status {reply.status_code} and nothing else"
    return ""


def _plain(raw: bytes) -> str:
    return " ".join(html.unescape(raw.decode("utf-8", "replace")).split())[:300]


def _retry_after(reply: httpx.Response, otherwise: float) -> float:
    named = reply.headers.get("retry-after", "")
    return min(float(named), _LONGEST_WAIT_S) if named.isdigit() else otherwise


def _document(body: bytes, root_name: str) -> Element:
    parser = XMLParser()  # noqa: S314 - the standard parser expands no external entity, and bounds internal ones
    try:
        parser.feed(body)
        root = parser.close()
    except ParseError as error:
        raise PubMedUnavailable(f"PubMed's reply is not whole XML: {error}") from error
    if root.tag != root_name:
        raise PubMedUnavailable(f"PubMed's reply is a {root.tag}, not a {root_name}")
    return root


def _read_records(body: bytes) -> tuple[tuple[str, ...], str]:
    """The PMIDs of a reply's records and withdrawals, and why it is not whole, if it is not."""
    pmids: list[str] = []
    for item in parse_pubmed_xml(BytesIO(body), "efetch.xml"):
        if isinstance(item, ParseProblem):
            if item.is_file_cut:
                return (), item.reason
            pmids += [item.pmid] if item.pmid else []
        elif isinstance(item, Record | Tombstone):
            pmids.append(item.pmid)
    return tuple(dict.fromkeys(pmids)), ""
