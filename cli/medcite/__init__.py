"""The command line and the public Python interface of medcite; the top layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medcite_core.settings import Settings
    from medcite_middleware.export.verdicts.report import VerificationReport

__version__ = "0.1.0"
__all__ = ["__version__", "verify"]


def verify(
    text: str,
    sources: str | Sequence[str | Path | tuple[str, str]],
    question: str | None = None,
    *,
    settings: Settings | None = None,
) -> VerificationReport:
    """Check a text claim by claim; the report holds each claim's verdict, its proofs and where they stand.

    `sources` is `"corpus"`, or a list of PMIDs, paths of files and folders, and `(name, text)` pairs. `question` is
    what the text answers; it is never evidence. `settings` are read from the environment when none are given.

    Raises:
        InvalidInput: nothing to check or to check against, or a path does not exist.
        IndexMissing: there is no corpus.
        NotFound: a PMID is not in the corpus.
    """
    from medcite.checking import verify_in_python

    return verify_in_python(text, sources, question or "", settings)
