"""What a load did, in numbers that add up, and how far it has come."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from medcite_core.ports import WriteCounts
from medcite_core.types import ParseProblem

Stage = Literal["parse", "embed", "store", "index", "done"]

KEPT_PROBLEMS = 1000
"""A report names that many problems at most; all are counted."""


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far a load has come. `stage` is what it does now; chunks are those of the records at hand."""

    stage: Stage
    file_name: str
    files_done: int
    files_total: int
    citations: int
    chunks_done: int = 0
    chunks_total: int = 0


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. Two sums hold:

    records + tombstones + problems = citations (what could not be read at the end of a file counts as one citation);
    inserted + replaced + unchanged + outdated = records.

    `duplicates_in_input` are records whose PMID an earlier one of the same load had; `removed` are records that
    tombstones took out. `chunks` were embedded and stored. `files_failed` gave nothing but problems; a file that is no
    PubMed file at all is one of them, named in `problem_list`, and holds no citation.
    """

    files: int = 0
    files_failed: tuple[str, ...] = ()
    citations: int = 0
    records: int = 0
    tombstones: int = 0
    problems: int = 0
    inserted: int = 0
    replaced: int = 0
    unchanged: int = 0
    outdated: int = 0
    removed: int = 0
    duplicates_in_input: int = 0
    chunks: int = 0
    problem_list: tuple[ParseProblem, ...] = ()
    elapsed_s: float = 0.0

    @property
    def is_partial(self) -> bool:
        """Whether anything of the input could not be read."""
        return self.problems > 0 or bool(self.files_failed)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            **asdict(self),
            "files_failed": list(self.files_failed),
            "problem_list": [asdict(problem) for problem in self.problem_list],
            "is_partial": self.is_partial,
        }


@dataclass
class Tally:
    """Counts while a load runs."""

    files: int = 0
    files_failed: list[str] = field(default_factory=list)
    records: int = 0
    tombstones: int = 0
    problems: int = 0
    written: WriteCounts = field(default_factory=WriteCounts)
    removed: int = 0
    duplicates_in_input: int = 0
    chunks: int = 0
    problem_list: list[ParseProblem] = field(default_factory=list)
    _seen: dict[int, bytearray] = field(default_factory=dict)

    @property
    def citations(self) -> int:
        """All that was read or could not be."""
        return self.records + self.tombstones + self.problems

    def add_record(self, pmid: str) -> None:
        """Count a record and whether its PMID came before. One bit a PMID: 5 MB for all of PubMed."""
        self.records += 1
        block, offset = divmod(int(pmid), 1 << 16)
        bits = self._seen.setdefault(block, bytearray(1 << 13))
        byte, bit = offset >> 3, 1 << (offset & 7)
        self.duplicates_in_input += bool(bits[byte] & bit)
        bits[byte] |= bit

    def add_problem(self, problem: ParseProblem) -> None:
        """Count a problem, and keep it while there are not too many."""
        self.problems += 1
        if len(self.problem_list) < KEPT_PROBLEMS:
            self.problem_list.append(problem)

    def add_failed_file(self, name: str, problems: int, *, is_no_pubmed_file: bool) -> None:
        """Count a file that gave nothing but `problems`, which have been added already."""
        self.files_failed.append(name)
        if is_no_pubmed_file:
            self.problems -= problems

    def report(self, elapsed_s: float) -> LoadReport:
        """The finished report."""
        return LoadReport(
            files=self.files,
            files_failed=tuple(self.files_failed),
            citations=self.citations,
            records=self.records,
            tombstones=self.tombstones,
            problems=self.problems,
            inserted=self.written.inserted,
            replaced=self.written.replaced,
            unchanged=self.written.unchanged,
            outdated=self.written.outdated,
            removed=self.removed,
            duplicates_in_input=self.duplicates_in_input,
            chunks=self.chunks,
            problem_list=tuple(self.problem_list),
            elapsed_s=round(elapsed_s, 3),
        )
