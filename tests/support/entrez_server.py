"""A server on loopback that answers as the E-utilities do: searches over made-up PMIDs, records, faults on demand."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

RECORD = (
    '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>'
    '<Article PubModel="Print">'
    "<Journal><JournalIssue CitedMedium='Print'><PubDate><Year>{year}</Year></PubDate></JournalIssue><Title>J</Title>"
    "</Journal><ArticleTitle>Study {pmid} of zeta.</ArticleTitle><Abstract><AbstractText>Zeta {pmid} helped."
    "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
)


@dataclass(frozen=True)
class Fault:
    """What a request gets instead of its answer. `cut` sends so many bytes of the right answer and closes."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/xml"
    headers: tuple[tuple[str, str], ...] = ()
    cut: int = 0


@dataclass
class Entrez:
    """What the server holds: PMIDs with their days of entry, and what it was asked. `fault` may answer instead."""

    entries: dict[int, date] = field(default_factory=dict)
    cap: int = 9_999
    not_found: tuple[str, ...] = ()
    absent: frozenset[int] = frozenset()
    fault: Callable[[str, dict[str, str], int], Fault | None] = lambda tool, values, number: None
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    base_url: str = ""

    def tools(self, name: str) -> list[dict[str, str]]:
        """The values of all requests to a tool."""
        return [values for tool, values in self.asked if tool == name]

    def search(self, values: dict[str, str]) -> bytes:
        """As PubMed does: the count is right, the list ends at the cap without a word."""
        term = values["term"]
        days = re.findall(r'"(\d{4}/\d\d/\d\d)"\[Date - Entry\]', term)
        first, last = (date.fromisoformat(d.replace("/", "-")) for d in days[-2:]) if days else (date.min, date.max)
        uids = re.findall(r"(\d+):(\d+)\[UID\]", term)
        low, high = map(int, uids[-1]) if uids else (0, 10**9)
        found = sorted(
            (p for p, day in self.entries.items() if first <= day <= last and low <= p <= high), reverse=True
        )
        shown = found[: min(int(values["retmax"]), self.cap)]
        errors = "".join(f"<PhraseNotFound>{escape(word)}</PhraseNotFound>" for word in self.not_found)
        return (
            f'<?xml version="1.0"?><eSearchResult><Count>{len(found)}</Count><IdList>'
            + "".join(f"<Id>{pmid}</Id>" for pmid in shown)
            + f"</IdList><QueryTranslation>{escape(term)}</QueryTranslation>"
            + f"<ErrorList>{errors}</ErrorList></eSearchResult>"
        ).encode()

    def fetch(self, values: dict[str, str]) -> bytes:
        """The records that are there."""
        wanted = [int(pmid) for pmid in values["id"].split(",")]
        records = [RECORD.format(pmid=p, year=2020) for p in wanted if p in self.entries and p not in self.absent]
        return f'<?xml version="1.0"?><PubmedArticleSet>{"".join(records)}</PubmedArticleSet>'.encode()


@contextmanager
def entrez_server(**held: object) -> Iterator[Entrez]:
    """The server, until the block ends."""
    entrez = Entrez(**held)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            entrez.paths.append(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            values = {name: found[0] for name, found in parse_qs(raw, keep_blank_values=True).items()}
            tool = self.path.rsplit("/", 1)[-1].removesuffix(".fcgi")
            entrez.asked.append((tool, values))
            answer = entrez.search if tool == "esearch" else entrez.fetch
            fault = entrez.fault(tool, values, len(entrez.tools(tool)))
            body = fault.body if fault and not fault.cut else answer(values)
            self.send_response(fault.status if fault else 200)
            self.send_header("Content-Type", fault.content_type if fault else "text/xml")
            for name, value in fault.headers if fault else ():
                self.send_header(name, value)
            if not (fault and fault.cut):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: fault.cut] if fault and fault.cut else body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    entrez.base_url = f"http://127.0.0.1:{server.server_port}/entrez/eutils"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield entrez
    finally:
        server.shutdown()
        server.server_close()
