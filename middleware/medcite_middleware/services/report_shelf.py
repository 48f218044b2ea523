"""Reports of finished checks, kept in memory for a while so that they can be downloaded."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from medcite_middleware.export.verdicts.report import VerificationReport

KEPT_REPORTS = 40
KEPT_S = 3600.0


class ReportShelf:
    """The last reports by run id: at most `most`, each for `kept_s` seconds. Safe to use from several threads."""

    def __init__(
        self, most: int = KEPT_REPORTS, kept_s: float = KEPT_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._kept_s = kept_s
        self._now = now
        self._reports: OrderedDict[str, tuple[float, VerificationReport]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, run_id: str, report: VerificationReport) -> None:
        """Keep a report; the oldest goes when there are too many."""
        with self._lock:
            self._reports[run_id] = (self._now(), report)
            self._drop_old()

    def get(self, run_id: str) -> VerificationReport | None:
        """The report of a run, if it is still kept."""
        with self._lock:
            self._drop_old()
            found = self._reports.get(run_id)
        return found[1] if found else None

    def _drop_old(self) -> None:
        oldest = self._now() - self._kept_s
        while self._reports and (len(self._reports) > self._most or next(iter(self._reports.values()))[0] < oldest):
            self._reports.popitem(last=False)
