"""The command's outer door: what is imported, exit codes, what goes to which stream."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import Finished, medcite

from medcite import __version__
from medcite import main as main_module


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Runs `medcite ARGUMENTS` in this process, in an empty folder without settings of the machine."""

    def call(*arguments: str, **environ: str) -> Finished:
        return medcite(monkeypatch, capsys, tmp_path, *arguments, **environ)

    return call


def test_help_imports_nothing_heavy() -> None:
    heavy = ["torch", "lancedb", "fastapi", "pydantic", "yaml", "structlog", "langchain_core", "numpy", "httpx"]
    code = f"import sys, medcite.main; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_help_names_every_command(run) -> None:
    done = run("--help")
    assert done.code == 0
    for name in ("up", "serve", "ingest", "search", "ask", "doctor", "config"):
        assert f" {name} " in done.out


def test_the_version_is_printed(run) -> None:
    assert run("--version").out == f"medcite {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("serve", "--port", "70000"), ("search",), ("ask", "x", "--k", "0"), ("config", "--jsno")],
)
def test_wrong_use_exits_2_and_says_why_on_standard_error(run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Error" in done.err


def test_an_option_that_stands_before_the_command_is_told_its_place(run) -> None:
    done = run("config", "--data-dir", "here")
    assert done.code == 2
    assert "--data-dir stands before the command" in done.err
    assert "stands before" not in run("config", "--jsno").err


def test_what_is_near_in_meaning_only_is_said_to_be(run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Words that no record holds: the demo corpus answers by nearness alone.
    demo = run("--data-dir", "demo", "search", "zzyzx qwyjibo", "--demo")
    assert demo.code == 0
    assert "only near it in meaning" in demo.err
    assert "only near it in meaning" not in run("--data-dir", "demo", "search", "air embolism", "--demo").err


def test_a_misspelt_setting_is_one_line_and_a_hint_without_traceback(run) -> None:
    done = run("config", MEDCITE_SERVER__PROT="1")
    assert done.code == 2
    assert done.out == ""
    assert done.err.splitlines() == [
        "medcite: environment variable MEDCITE_SERVER__PROT is not a setting; did you mean MEDCITE_SERVER__PORT?",
        "  `medcite config` lists every setting, its value and where it came from.",
    ]


def test_reversed_years_are_wrong_use_with_the_right_range_as_hint(run) -> None:
    done = run("search", "x", "--year-from", "2010", "--year-to", "2000")
    assert done.code == 2
    assert "2010 to 2000 is reversed" in done.err
    assert "2000 to 2010" in done.err


@pytest.mark.parametrize("question", ["", "   ", "x" * 100_000, "bell\a"])
def test_an_unusable_question_is_wrong_use(run, question: str) -> None:
    done = run("ask", question)
    assert done.code == 2
    assert done.err.startswith("medcite: question")
    assert len(done.err) < 400


def test_asking_without_an_index_fails_and_names_both_ways_on(run) -> None:
    done = run("ask", "What helps?")
    assert done.code == 1
    assert "medcite ingest files" in done.err
    assert "--demo" in done.err


def test_with_json_an_error_has_the_common_shape_on_standard_output(run) -> None:
    done = run("search", "x", "--json")
    assert done.code == 1
    error = json.loads(done.out)["error"]
    assert error["code"] == "index_missing"
    assert set(error) == {"code", "message", "hint", "retryable", "request_id"}
    assert error["message"] in done.err


def test_an_unexpected_error_is_short_and_tells_how_to_see_more(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("inner fault")

    monkeypatch.setattr(main_module.Invocation, "load", broken)
    done = run("config")
    assert done.code == 1
    assert "ZeroDivisionError: inner fault" in done.err
    assert "--debug" in done.err
    assert "Traceback" not in done.err
    with pytest.raises(ZeroDivisionError):
        run("--debug", "config")


def test_config_shows_origin_and_masks_secrets(run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("server: {port: 8100}\n")
    done = run("--config", "mine.yaml", "--data-dir", "here", "config", "--json", MEDCITE_LLM__API_KEY="sk-secret")
    rows = {row["setting"]: row for row in json.loads(done.out)["settings"]}
    assert (rows["server.port"]["value"], rows["server.port"]["origin"]) == ("8100", "mine.yaml")
    assert (rows["data_dir"]["value"], rows["data_dir"]["origin"]) == ("here", "argument")
    assert rows["llm.api_key"]["value"] == "********"
    assert "sk-secret" not in done.out + run("config", MEDCITE_LLM__API_KEY="sk-secret").out


def test_serve_refuses_a_port_that_is_taken(run) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port))
    assert done.code == 1
    assert done.err.startswith(f"medcite: port {port} on 127.0.0.1 is taken")
    assert "--port" in done.err
    assert done.out == ""
