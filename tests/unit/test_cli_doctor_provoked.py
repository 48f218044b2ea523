"""Each thing that can be wrong with an installation, provoked, and found by the doctor with what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.live_service import small_service
from support.small_corpus import small_settings

from medcite import doctor, serving
from medcite_core.embedding.factory import known_identity
from medcite_core.index.factory import open_index


def put_driver(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An NVIDIA driver's tool, found on the path."""
    tool = folder / "nvidia-smi"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def put_torch(cuda: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of torch that can use no GPU."""
    gpu = SimpleNamespace(is_available=lambda: False)
    fake = SimpleNamespace(__version__="2.9", __spec__=object(), version=SimpleNamespace(cuda=cuda), cuda=gpu)
    monkeypatch.setitem(sys.modules, "torch", fake)


@pytest.mark.parametrize(("cuda", "words"), [(None, "Install a CUDA build"), ("13.0", "driver is probably too old")])
def test_a_driver_that_torch_does_not_use_is_found_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cuda: str | None, words: str
) -> None:
    put_driver(tmp_path, monkeypatch)
    put_torch(cuda, monkeypatch)
    assert doctor.has_nvidia_driver()
    found = {check.name: check for check in doctor.run_checks(small_settings(tmp_path / "data"))}["torch"]
    assert found.state == "warn"
    assert words in found.advice


def test_an_index_with_other_chunk_sizes_fails_with_the_way_back(tmp_path: Path) -> None:
    built = small_settings(tmp_path, index__chunk_size=500)
    open_index(built, known_identity(built.embedding), create=True)
    index, _ = doctor.check_index(small_settings(tmp_path, index__chunk_size=600))
    assert index.state == "fail"
    assert "chunk" in index.found
    assert "MEDCITE_DATA_DIR" in index.advice


def test_a_port_that_medcite_itself_has_is_fine(tmp_path: Path) -> None:
    with small_service(tmp_path) as live:
        port = int(live.base_url.rpartition(":")[2])
        found = doctor.check_port(small_settings(tmp_path, server__port=port))
    assert (found.state, "medcite is running there" in found.found) == ("ok", True)


def test_a_page_that_is_not_built_is_a_warning_with_the_command_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "page_dir", lambda: None)
    found = doctor.check_page()
    assert found.state == "warn"
    assert "scripts/up.py" in found.advice


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (
            {"embedding__provider": "openai", "embedding__model": "m", "embedding__query_prompt": "{text}"},
            "embedding model",
        ),
        ({"embedding__model": "no/such-folder-or-model"}, "embedding model"),
        ({"llm__provider": "openai", "llm__model": "m"}, "chat model"),
        ({"llm__provider": "huggingface"}, "chat model"),
        ({"llm__provider": "huggingface", "llm__model": "a/b"}, "chat model"),
    ],
)
def test_settings_that_say_too_little_are_found_with_the_setting_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], name: str
) -> None:
    put_torch(None, monkeypatch)
    found = {check.name: check for check in doctor.run_checks(small_settings(tmp_path, **settings))}[name]
    assert found.state in ("warn", "fail")
    assert "MEDCITE_" in found.advice


def test_whatever_is_not_right_comes_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_driver(tmp_path, monkeypatch)
    put_torch(None, monkeypatch)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
    monkeypatch.setattr(serving, "page_dir", lambda: None)
    (tmp_path / "file").write_text("")
    checks = list(doctor.run_checks(small_settings(tmp_path / "file" / "data", llm__provider="openai")))
    wrong = [check for check in checks if check.state != "ok"]
    assert len(wrong) >= 5
    assert [check.name for check in wrong if not check.advice] == []
