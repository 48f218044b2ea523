"""What a batch has checked so far, on disk beside its report: a run that was cut goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import ValidationError

from medcite_core.errors import InvalidInput
from medcite_middleware.export.verdicts.report import ReportEntry, ReportSource
from medcite_middleware.services.verifying import ClaimRow


def fingerprint(versions: Mapping[str, str], settings: Mapping[str, Any], sources: Sequence[ReportSource]) -> str:
    """What verdicts depend on besides the claim: with another one, earlier verdicts are not taken over."""
    listed = sorted((s.kind, s.id, s.name, s.sha256) for s in sources)
    whole = json.dumps([dict(versions), dict(settings), listed], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(whole.encode()).hexdigest()


class Journal:
    """JSON Lines: a first line with the fingerprint, then one line for each claim that was checked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    @classmethod
    def beside(cls, report: Path) -> Journal:
        """The journal of a report."""
        return cls(report.with_name(f".{report.name}.journal"))

    def open(self, mark: str, rows: Mapping[int, ClaimRow]) -> dict[int, ReportEntry]:
        """Take over what an earlier run checked, if it was made of the same things; the entries by row."""
        found = self._read(mark, rows)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = [json.dumps({"fingerprint": mark})]
            lines += [_line(rows[row], entry) for row, entry in found.items()]
            # Written anew: a last line that was cut must not stand in the middle of the next ones.
            fresh = self._path.with_name(self._path.name + ".new")
            fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            fresh.replace(self._path)
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"cannot write {self._path}: {error.strerror}", "Choose another --out.") from None
        return found

    def _read(self, mark: str, rows: Mapping[int, ClaimRow]) -> dict[int, ReportEntry]:
        try:
            first, *lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
            if json.loads(first)["fingerprint"] != mark:
                return {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        found: dict[int, ReportEntry] = {}
        for line in lines:
            try:
                raw = json.loads(line)
                entry = ReportEntry.model_validate(raw["entry"])
                row = rows.get(entry.row)
                # What failed is tried again; what was changed in the claims file is checked anew.
                if row is not None and raw["key"] == _key(row) and entry.state != "failed":
                    found[entry.row] = entry
            except (ValueError, KeyError, TypeError, ValidationError):
                continue
        return found

    def add(self, row: ClaimRow, entry: ReportEntry) -> None:
        """Keep one claim's entry; it is on disk when this returns."""
        assert self._file is not None
        self._file.write(_line(row, entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def delete(self) -> None:
        """Remove it, once the report is written."""
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _line(row: ClaimRow, entry: ReportEntry) -> str:
    return json.dumps({"key": _key(row), "entry": entry.model_dump(mode="json")}, ensure_ascii=True)


def _key(row: ClaimRow) -> list[object]:
    return [row.claim, row.question, list(row.pmids), row.id, row.problem]
