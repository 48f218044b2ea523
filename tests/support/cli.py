"""Runs the `medcite` command in this process."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from medcite.main import run


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str


def medcite(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    *arguments: str,
    **environ: str,
) -> Finished:
    """`medcite ARGUMENTS` in `folder`, with no settings but `environ`."""
    for name in [name for name in os.environ if name.upper().startswith("MEDCITE_")]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["medcite", *arguments])
    capsys.readouterr()
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        with pytest.raises(SystemExit) as ended:
            run()
    finally:
        # The command logs to the captured stream, which is gone when the next test runs.
        root.handlers = handlers
        root.setLevel(level)
    code = ended.value.code
    captured = capsys.readouterr()
    return Finished(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)
