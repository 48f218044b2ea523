"""Rules that hold for the whole repository."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import medcite

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "core/medcite_core",
    "ingestion/medcite_ingestion",
    "middleware/medcite_middleware",
    "evaluation/medcite_evaluation",
    "cli/medcite",
)
PAPERS = ("README.md", "installation_instructions.md")
# Written in pieces, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a package registry's host": re.compile(
        "|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "registry" + r"\.npmjs", "download" + r"\.pytorch"])
    ),
    "a path of one machine": re.compile(
        "|".join(["/" + "work/", "/" + r"root/[a-z.]", r"/home/[a-z]+/", r"\.\./" + "shared"])
    ),
}


def tracked() -> list[Path]:
    """Every file that git knows here, except deleted ones; all files of a checkout without git."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def texts() -> list[tuple[Path, str]]:
    """Tracked text files and what is in them."""
    found = []
    for path in tracked():
        try:
            found.append((path, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def modules() -> list[Path]:
    """Every Python module of the packages and scripts."""
    folders = [ROOT / package for package in PACKAGES] + [ROOT / "scripts", ROOT / "benchmarks"]
    return [path for path in tracked() if path.suffix == ".py" and any(f in path.parents for f in folders)]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_names(what: str) -> None:
    found = [f"{relative(path)}: {match.group()}" for path, text in texts() for match in FORBIDDEN[what].finditer(text)]
    assert found == []


def test_every_module_begins_with_its_duty() -> None:
    bare = [relative(path) for path in modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert bare == []


def test_no_module_has_400_lines_and_no_component_200() -> None:
    limits = {".py": 400, ".svelte": 200}
    code = [path for path in tracked() if path.suffix in limits and "tests" not in path.relative_to(ROOT).parts]
    long = {relative(path): n for path in code if (n := len(path.read_text().splitlines())) >= limits[path.suffix]}
    assert long == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lines = node.end_lineno - node.lineno + 1
                if lines > 60:
                    long[f"{relative(path)}:{node.name}"] = lines
    assert long == {}


def test_no_module_is_called_by_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert [relative(path) for path in modules() if set(path.stem.split("_")) & empty] == []


def test_tests_are_no_package() -> None:
    assert [relative(path) for path in tracked() if path.name == "__init__.py" and "tests" in path.parts] == []


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    page = json.loads((ROOT / "frontend" / "package.json").read_text(encoding="utf-8"))["version"]
    changes = re.search(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert changes
    assert {medcite.__version__, page, changes.group(1)} == {version}


def test_ignore_patterns_are_anchored_unless_they_name_what_tools_leave_anywhere() -> None:
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert [p for p in patterns if not p.startswith(("/", ".", "__", "*."))] == []


def test_no_source_file_is_ignored() -> None:
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    own = [p for p in sources if "__pycache__" not in p.parts and (ROOT / "cli/medcite/page") not in p.parents]
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input="\n".join(map(str, own)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""


@pytest.mark.parametrize("paper", PAPERS)
def test_the_commands_of_the_papers_exist(paper: str) -> None:
    text = (ROOT / paper).read_text(encoding="utf-8")
    scripts = set(re.findall(r"scripts/\w+\.py", text))
    assert {"scripts/up.py"} <= scripts
    assert [name for name in scripts if not (ROOT / name).is_file()] == []
    known = commands()
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()] + re.findall(r"`([^`\n]+)`", text)
    found = [re.match(r"\s*(?:\S+/)?medcite(?: --[\w-]+(?: [\w./]+)?)*? ([a-z]+)(?: |$)", line) for line in lines]
    used = {match.group(1) for match in found if match}
    assert used - known == set()


@pytest.mark.parametrize("paper", PAPERS)
def test_the_variables_of_the_papers_are_settings(paper: str) -> None:
    from medcite_core.settings import env_name, setting_names

    text = (ROOT / paper).read_text(encoding="utf-8")
    known = {env_name(name) for name in setting_names()}
    assert set(re.findall(r"MEDCITE_[A-Z_]*[A-Z](?![*A-Z_])", text)) - known == set()


@pytest.mark.parametrize("paper", ["README.md", "installation_instructions.md", "CHANGELOG.md"])
def test_the_links_between_papers_lead_somewhere(paper: str) -> None:
    text = (ROOT / paper).read_text(encoding="utf-8")
    targets = [
        t.split("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text) if not t.startswith(("http", "#", "mailto"))
    ]
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_import_contracts_hold() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]
    assert "0 broken" in done.stdout


def commands() -> set[str]:
    """The commands of the command line."""
    from medcite.main import app

    single = {command.callback.__name__ for command in app.registered_commands if command.callback}
    return single | {str(group.name) for group in app.registered_groups}
