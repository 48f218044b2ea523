"""Parses every PubMed XML file of a folder and compares with citations counted independently; chunks every record.

    python benchmarks/parse_all_records.py FOLDER

Prints one line a file whose counts differ or which has problems, then totals and speed. Exit status 1 when a law
fails: records + tombstones + problems = citations, chunk offsets exact, every visible character in a chunk.
"""

from __future__ import annotations

import collections
import gzip
import re
import sys
import time
from pathlib import Path

from medcite_core.chunking import chunk_record
from medcite_core.settings import IndexSettings
from medcite_core.types import ParseProblem, Record, Tombstone
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_DELETED = re.compile(rb"<Delete(?:Citation|Document)>(.*?)</Delete(?:Citation|Document)>", re.DOTALL)


def count_citations(path: Path) -> int:
    """Citations by plain counting of tags: articles, books, bare citations, and PMIDs of deletions."""
    data = path.read_bytes()
    data = _COMMENT.sub(b"", gzip.decompress(data) if path.suffix == ".gz" else data)
    deleted = sum(block.count(b"<PMID") for block in _DELETED.findall(data))
    articles = len(re.findall(rb"<PubmedArticle[\s>]", data)) + len(re.findall(rb"<PubmedBookArticle[\s>]", data))
    return (articles or len(re.findall(rb"<MedlineCitation[\s>]", data))) + deleted


def broken_laws(record: Record, settings: IndexSettings) -> list[str]:
    """Names of the laws of records and chunks that this record breaks."""
    broken = []
    if any(section.span.of(record.text) != section.text for section in record.sections):
        broken.append("section spans")
    chunks = chunk_record(record, settings)
    if any(chunk.span.of(record.text) != chunk.text for chunk in chunks):
        broken.append("chunk spans")
    if any(len(chunk.text) > settings.chunk_size + settings.min_chunk_chars for chunk in chunks):
        broken.append("chunk size")
    covered = {place for chunk in chunks for place in range(chunk.span.start, chunk.span.end)}
    wanted = {
        place
        for section in record.sections
        for place in range(section.span.start, section.span.end)
        if not record.text[place].isspace()
    }
    if wanted - covered:
        broken.append("coverage")
    if not chunks or record.sections[0].kind != "title" or chunks[0].ordinal != 0:
        broken.append("title first")
    return broken


def main(folder: Path) -> int:
    """Run over all files; returns the exit status."""
    settings = IndexSettings()
    totals: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    failures = 0
    paths = sorted(p for p in folder.rglob("*") if p.name.endswith((".xml", ".xml.gz")))
    started, spent = time.perf_counter(), 0.0
    for path in paths:
        before = time.perf_counter()
        parsed = list(parse_pubmed_xml(path))
        spent += time.perf_counter() - before
        counts = collections.Counter(type(item).__name__ for item in parsed)
        totals.update(counts)
        citations = count_citations(path)
        totals["citations"] += citations
        problems = [item for item in parsed if isinstance(item, ParseProblem)]
        reasons.update(problem.reason for problem in problems)
        if len(parsed) != citations or problems:
            print(f"{path.name}: {citations} citations, {dict(counts)} {[p.reason for p in problems][:3]}")
        failures += len(parsed) != citations
        for record in (item for item in parsed if isinstance(item, Record)):
            totals["chunks"] += len(chunk_record(record, settings))
            for law in broken_laws(record, settings):
                failures += 1
                print(f"{path.name}: PMID {record.pmid} breaks the law of {law}")
    totals["tombstones"] = totals.pop(Tombstone.__name__, 0)
    print(f"{len(paths)} files, {dict(totals)}, problems by reason: {dict(reasons)}")
    print(f"parsing {spent:.1f} s ({totals['Record'] / spent:.0f} records/s)")
    print(f"all {time.perf_counter() - started:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
