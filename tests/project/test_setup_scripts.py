"""The two commands of the README: what they say when something is missing, and that running again is cheap."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch):
    """Imports a module of scripts/, afresh."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))

    def load(name: str) -> ModuleType:
        for stale in ("checkout", "up", "test"):
            monkeypatch.delitem(sys.modules, stale, raising=False)
        return importlib.import_module(name)

    yield load
    for stale in ("checkout", "up", "test"):
        sys.modules.pop(stale, None)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout in a folder with a space in its name, as far as the scripts need it: nothing is set up in it."""
    folder = tmp_path / "a clone"
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "frontend" / "src").mkdir(parents=True)
    (folder / "frontend" / "package-lock.json").write_text("{}")
    (folder / "frontend" / "src" / "main.ts").write_text("1")
    return folder


def run(clone: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a script of the clone with only `path` on the path."""
    environment = {**os.environ, "PATH": path}
    command = [sys.executable, str(clone / "scripts" / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=clone.parent, check=False)


def put_tool(folder: Path, name: str, script: str) -> None:
    """A stand-in for a program."""
    folder.mkdir(exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


@pytest.mark.parametrize(
    ("node", "said"),
    [("", "Node is missing"), ("echo v18.19.0", "Node 18.19 is too old"), ("echo v20.19.0", "npm is not")],
)
def test_a_missing_node_is_said_before_anything_is_downloaded(clone: Path, node: str, said: str) -> None:
    tools = clone / "tools"
    tools.mkdir()
    if node:
        put_tool(tools, "node", node)
    done = run(clone, "up.py", "--no-serve", path=str(tools))
    assert done.returncode == 1
    assert said in done.stderr
    assert "nodejs.org" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (clone / ".venv").exists()


def test_a_wrong_python_is_told_which_one_to_use(scripts, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = scripts("checkout")
    monkeypatch.setattr(checkout.shutil, "which", lambda name: f"/bin/{name}" if name == "python3.12" else None)
    with pytest.raises(checkout.SetupError, match=r"3\.9.*\n.*python3\.12 instead"):
        checkout.check_python((3, 9))
    monkeypatch.setattr(checkout.shutil, "which", lambda _: None)
    with pytest.raises(checkout.SetupError, match=r"Install Python 3\.11 to 3\.14"):
        checkout.check_python((3, 15))
    checkout.check_python((3, 11))


def test_the_set_up_code_can_be_read_by_old_pythons() -> None:
    import ast

    for name in ("up.py", "test.py", "checkout.py"):
        ast.parse((ROOT / "scripts" / name).read_text(encoding="utf-8"), feature_version=(3, 7))


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("Failed to establish: [Errno -3] Temporary failure in name resolution", "could not reach the package index"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("error: subprocess-exited-with-error", "last lines stand above"),
    ],
)
def test_a_failed_installation_is_explained(scripts, log: str, said: str) -> None:
    assert said in scripts("checkout").pip_failure(log)


def test_options_are_split_between_the_script_pip_and_medcite(scripts) -> None:
    split = scripts("up").split_arguments
    assert split([]) == ([], [], [])
    assert split(["--no-serve"]) == (["--no-serve"], [], [])
    assert split(["--pip", "--extra-index-url", "x", "--", "--port", "8100"]) == (
        [],
        ["--extra-index-url", "x"],
        ["--port", "8100"],
    )
    assert split(["--", "--pip", "--"]) == ([], [], ["--pip", "--"])


@pytest.mark.parametrize("script", ["up.py", "test.py"])
def test_an_unknown_option_is_wrong_use_and_shows_the_right_ones(clone: Path, script: str) -> None:
    done = run(clone, script, "--prot", "1")
    assert done.returncode == 2
    assert "--pip" in done.stderr
    assert not (clone / ".venv").exists()


def fake_checkout(checkout: ModuleType, clone: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Points the module at `clone` and records the long steps instead of running them."""
    steps: list[list[str]] = []

    def step(command: list[str], cwd: Path, what: str) -> int:
        steps.append(command)
        if command[1:3] == ["-m", "venv"]:
            target = Path(command[3]) / "bin"
            target.mkdir(parents=True, exist_ok=True)
            put_tool(target, "python", f'exec "{sys.executable}" "$@"')
        if command[1:] == ["run", "build"]:
            (clone / "frontend" / "dist").mkdir(exist_ok=True)
            (clone / "frontend" / "dist" / "index.html").write_text("built")
        if command[1:2] == ["ci"]:
            (clone / "frontend" / "node_modules").mkdir(exist_ok=True)
        return 0

    for name, value in {
        "ROOT": clone,
        "VENV": clone / ".venv",
        "FRONTEND": clone / "frontend",
        "PAGE": clone / "frontend" / "dist",
        "run_step": step,
        "check_node": lambda: "npm",
        "venv_python": lambda venv=clone / ".venv": venv / "bin" / "python",
    }.items():
        monkeypatch.setattr(checkout, name, value)
    return steps


@pytest.fixture
def fake(scripts, clone: Path, monkeypatch: pytest.MonkeyPatch):
    """The set-up module over a clone, and the long steps it took so far."""
    checkout = scripts("checkout")
    steps = fake_checkout(checkout, clone, monkeypatch)
    monkeypatch.setattr(checkout, "ensure_venv", lambda: None)
    checkout.run_step([sys.executable, "-m", "venv", str(clone / ".venv")], clone, "")
    steps.clear()

    def set_up(extras: set[str], pip_options: list[str]) -> list[list[str]]:
        steps.clear()
        checkout.ensure_installed(extras, pip_options, clone / ".venv")
        checkout.ensure_page()
        return list(steps)

    return set_up


def test_the_first_run_installs_and_builds_and_the_second_does_nothing(fake) -> None:
    first = fake(set(), [])
    assert [command[1:3] for command in first[1:]] == [["ci", "--include=dev"], ["run", "build"]]
    assert first[0][-2] == "--editable"
    assert fake(set(), []) == []


def test_an_interrupted_installation_is_taken_up_again(fake, clone: Path) -> None:
    fake(set(), [])
    (clone / ".venv" / "medcite-setup.json").unlink()  # written only after pip has finished
    assert len(fake(set(), [])) == 1


def test_changed_dependencies_or_page_sources_are_set_up_anew(fake, clone: Path) -> None:
    fake(set(), [])
    with (clone / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert [command[-2] for command in fake(set(), [])] == ["--editable"]
    (clone / "frontend" / "src" / "main.ts").write_text("2")
    assert [command[1:] for command in fake(set(), [])] == [["run", "build"]]
    (clone / "frontend" / "package-lock.json").write_text('{"a": 1}')
    assert [command[1] for command in fake(set(), [])] == ["ci", "run"]


def test_the_test_tools_are_added_once_and_up_does_not_take_them_away(fake) -> None:
    fake(set(), [])
    added = fake({"dev"}, [])
    assert added[0][-1].endswith("[dev]")
    assert "--no-deps" in added[1]
    assert fake(set(), []) == []
    assert fake({"dev"}, []) == []


def test_options_for_pip_are_passed_on_and_make_it_run(fake) -> None:
    fake(set(), [])
    (command,) = fake(set(), ["--extra-index-url", "http://127.0.0.1:9/cpu"])
    assert command[command.index("install") + 1 :][:2] == ["--extra-index-url", "http://127.0.0.1:9/cpu"]


def test_a_moved_checkout_is_installed_anew(fake, clone: Path) -> None:
    fake(set(), [])
    stamp = clone / ".venv" / "medcite-setup.json"
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "root": "/elsewhere"}))
    assert len(fake(set(), [])) == 1


@pytest.mark.parametrize("kind", ["dead interpreter", "plain file", "empty folder"])
def test_a_broken_virtual_environment_is_made_anew(
    scripts, clone: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    checkout = scripts("checkout")
    steps = fake_checkout(checkout, clone, monkeypatch)
    venv = clone / ".venv"
    if kind == "plain file":
        venv.write_text("")
    elif kind == "empty folder":
        venv.mkdir()
    else:
        put_tool(clone / ".venv", "x", "")
        (venv / "bin").mkdir()
        put_tool(venv / "bin", "python", "exit 127")
        (venv / "medcite-setup.json").write_text("{}")
    checkout.ensure_venv(venv)
    assert [command[1:3] for command in steps] == [["-m", "venv"]]
    assert not (venv / "medcite-setup.json").exists()


def test_a_suite_that_could_not_run_or_skipped_is_a_failure_only_in_ci(scripts, tmp_path: Path) -> None:
    test = scripts("test")
    outcome = test.Outcome("unit")
    report = tmp_path / "unit.xml"
    report.write_text(
        "<testsuites><testsuite><testcase/><testcase><skipped/></testcase><testcase/></testsuite></testsuites>"
    )
    outcome.read_junit(report, 0)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 0, 1)
    assert not outcome.is_bad(strict=False)
    assert outcome.is_bad(strict=True)
    absent = test.Outcome("browser")
    absent.why = "no Chromium"
    assert not absent.is_bad(strict=False)
    assert absent.is_bad(strict=True)
    assert "could not run: no Chromium" in test.table([outcome, absent], strict=False)
    assert "FAILED" not in test.table([outcome, absent], strict=False)


@pytest.mark.parametrize(("report", "exit_code"), [("", 4), ("<testsuites><testcase/></testsuites>", 1), ("", -9)])
def test_a_test_runner_that_failed_is_a_failure_even_without_a_failed_test(
    scripts, tmp_path: Path, report: str, exit_code: int
) -> None:
    test = scripts("test")
    path = tmp_path / "unit.xml"
    if report:
        path.write_text(report)
    outcome = test.Outcome("unit")
    outcome.read_junit(path, exit_code)
    assert outcome.failed == 1


def test_a_machine_without_chromium_says_so(scripts, monkeypatch: pytest.MonkeyPatch) -> None:
    test = scripts("test")
    monkeypatch.setattr(test.shutil, "which", lambda _: None)
    assert "apt install chromium" in test.missing_for("browser")
    assert "Node" in test.missing_for("frontend")
