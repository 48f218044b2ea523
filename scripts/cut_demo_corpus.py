"""Cuts the demo corpus out of a folder of collected PubMed files: real records with abstracts, byte for byte.

    python scripts/cut_demo_corpus.py --from FOLDER

FOLDER has a MANIFEST.csv (file, repository, path, license, remark). The newest copy of each PMID is taken; records are
never edited. The same folder always gives the same bytes. Run scripts/build_demo_vectors.py afterwards.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from string import Template

from medcite_core.types import Record
from medcite_ingestion.demo import DEMO_DIR
from medcite_ingestion.pubmed_file import examine, unpacked
from medcite_ingestion.pubmed_scan import CitationCutter
from medcite_ingestion.pubmed_xml import parse_pubmed_xml

MAX_XML_BYTES = 150_000
HEADER = b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
FOOTER = b"</PubmedArticleSet>\n"

# Test files of other projects whose authors may have changed or invented fields.
LEFT_OUT = re.compile(
    r"^synthetic/"
    r"|/jabref__|/net-synergy__|/pubtrends__"
    r"|/julielab-jcore-"
    r"|/sul_pub__works_when_"
)


@dataclass(frozen=True)
class Cut:
    """One record as it stands in a collected file."""

    record: Record
    xml: bytes
    file: str

    @property
    def age(self) -> tuple[int, str, int]:
        """Sorts copies of a record: the newest is the largest."""
        return self.record.version, self.record.date_revised.iso(), self.record.provenance.file_number or 0


def cuts_of(path: Path, file: str) -> list[Cut]:
    """Records with an abstract in a file, each with its own bytes."""
    cuts = []
    with path.open("rb") as stream:
        facts = examine(stream, path.name)
        with unpacked(stream, facts) as xml:
            pieces = [piece for piece in CitationCutter(xml).pieces() if piece.kind == "citation"]
    for piece in pieces:
        if piece.flaw or not piece.data.startswith((b"<PubmedArticle", b"<PubmedBookArticle")):
            continue
        alone = io.BytesIO(HEADER + piece.data + b"\n" + FOOTER)
        for record in parse_pubmed_xml(alone, path.name):
            if isinstance(record, Record) and record.has_abstract:
                cuts.append(Cut(record, piece.data, file))
    return cuts


def choose(folder: Path, manifest: dict[str, dict[str, str]]) -> tuple[list[Cut], int]:
    """The newest copy of each PMID, by PMID, and how many were left out for their size."""
    newest: dict[str, Cut] = {}
    for file in sorted(manifest):
        if file.endswith((".xml", ".xml.gz")) and not LEFT_OUT.search(file):
            for cut in cuts_of(folder / file, file):
                known = newest.get(cut.record.pmid)
                if known is None or cut.age > known.age:
                    newest[cut.record.pmid] = cut
    fitting = [cut for cut in newest.values() if len(cut.xml) <= MAX_XML_BYTES]
    return sorted(fitting, key=lambda cut: int(cut.record.pmid)), len(newest) - len(fitting)


def write_corpus(cuts: list[Cut], target: Path) -> None:
    """One gzipped set, the same bytes each time."""
    body = HEADER + b"".join(cut.xml + b"\n" for cut in cuts) + FOOTER
    with target.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(body)


def write_provenance(cuts: list[Cut], manifest: dict[str, dict[str, str]], target: Path) -> None:
    """Where each record was found: one row a record."""
    with target.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["pmid", "version", "date_revised", "repository", "path"])
        for cut in cuts:
            source = manifest[cut.file]
            revised = cut.record.date_revised.iso()
            rows.writerow([cut.record.pmid, cut.record.version, revised, source["repository"], source["path"]])


def readme_values(cuts: list[Cut], too_long: int, manifest: dict[str, dict[str, str]]) -> dict[str, str]:
    """What the README's template asks for."""
    by_repository: dict[str, list[Cut]] = defaultdict(list)
    for cut in cuts:
        by_repository[manifest[cut.file]["repository"]].append(cut)
    rows = []
    for repository, some in sorted(by_repository.items(), key=lambda item: (-len(item[1]), item[0])):
        revised = sorted(filter(None, (cut.record.date_revised.iso() for cut in some)))
        licenses = ", ".join(sorted({manifest[cut.file]["license"] for cut in some}))
        files = len({cut.file for cut in some})
        rows.append(f"| {repository} | {files} | {len(some)} | {revised[-1] if revised else '–'} | {licenses} |")
    states = [cut.record.status for cut in cuts]
    return {
        "records": f"{len(cuts):,}",
        "books": str(sum(cut.record.is_book for cut in cuts)),
        "too_long": str(too_long),
        "max_kb": str(MAX_XML_BYTES // 1000),
        "retracted": str(states.count("retracted")),
        "concern": str(states.count("expression_of_concern")),
        "corrected": str(states.count("corrected")),
        "table": "\n".join(rows),
    }


def main() -> None:
    """Write corpus, provenance and README into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=Path, required=True, metavar="FOLDER")
    folder = parser.parse_args().folder
    with (folder / "MANIFEST.csv").open(encoding="utf-8", newline="") as stream:
        manifest = {row["file"]: row for row in csv.DictReader(stream)}
    cuts, too_long = choose(folder, manifest)
    write_corpus(cuts, DEMO_DIR / "pubmed-demo.xml.gz")
    write_provenance(cuts, manifest, DEMO_DIR / "provenance.csv")
    template = Template((Path(__file__).parent / "demo_readme.md.template").read_text(encoding="utf-8"))
    values = readme_values(cuts, too_long, manifest)
    (DEMO_DIR / "README.md").write_text(template.substitute(values), encoding="utf-8")
    print({name: value for name, value in values.items() if name != "table"})


if __name__ == "__main__":
    main()
