"""What the doctor finds, and what it advises."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.embedding_server import embedding_server
from support.llm_server import LLMServer
from support.small_corpus import WordHashEmbedder, small_index, small_settings

from medcite import doctor
from medcite_core.settings import IndexSettings, OpenSearchSettings, Settings


@pytest.fixture
def torch_build(monkeypatch: pytest.MonkeyPatch):
    """Puts a stand-in torch in place: its CUDA version (None for a CPU build) and whether it can use a GPU."""

    def put(cuda: str | None, usable: bool) -> None:
        fake = SimpleNamespace(
            __version__="2.9",
            __spec__=object(),
            version=SimpleNamespace(cuda=cuda),
            cuda=SimpleNamespace(is_available=lambda: usable, get_device_name=lambda _: "Test GPU"),
        )
        monkeypatch.setitem(sys.modules, "torch", fake)

    return put


@pytest.mark.parametrize(
    ("cuda", "usable", "has_driver", "state", "words"),
    [
        (None, False, False, "ok", "CPU build"),
        (None, False, True, "warn", "has an NVIDIA GPU"),
        ("13.0", False, False, "ok", "no GPU here"),
        ("13.0", True, True, "ok", "Test GPU"),
        ("13.0", False, True, "warn", "cannot be used"),
    ],
)
def test_torch_and_driver_are_compared_both_ways(
    torch_build, cuda: str | None, usable: bool, has_driver: bool, state: str, words: str
) -> None:
    torch_build(cuda, usable)
    found = doctor.check_torch(has_driver)
    assert (found.state, words in found.found) == (state, True)
    assert bool(found.advice) == (state != "ok")


@pytest.mark.parametrize(("version", "state"), [((3, 10, 9), "fail"), ((3, 11, 0), "ok"), ((3, 15, 0), "fail")])
def test_python_is_judged_by_the_versions_medcite_supports(version: tuple[int, ...], state: str) -> None:
    assert doctor.check_python(version).state == state


def test_every_installed_dependency_has_a_version_that_is_declared() -> None:
    found = doctor.check_packages()
    assert found.state == "ok", found.found


def test_a_missing_and_a_wrong_dependency_are_both_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["no-such-package>=1", "typer<0.1", 'pytest<1; extra == "dev"']
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: lines)
    found = doctor.check_packages()
    assert found.state == "fail"
    assert "no-such-package is missing" in found.found
    assert "typer" in found.found
    assert "pytest" not in found.found


def test_a_data_folder_that_cannot_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = doctor.check_data_dir(small_settings(tmp_path / "file" / "data"))
    assert found.state == "fail"
    assert "MEDCITE_DATA_DIR" in found.advice


def test_looking_at_the_data_folder_leaves_no_trace(tmp_path: Path) -> None:
    assert doctor.check_data_dir(small_settings(tmp_path / "new")).state == "ok"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "state"), [(10**8, "fail"), (10**9, "warn"), (10**11, "ok")])
def test_free_space_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert doctor.check_disk(small_settings(tmp_path / "a" / "b")).state == state


def test_an_index_built_with_another_model_fails_with_the_way_back(tmp_path: Path) -> None:
    settings = small_settings(tmp_path)
    small_index(settings, WordHashEmbedder())
    index, demo = doctor.check_index(settings)
    assert index.state == "fail"
    assert "word-hash" in index.found
    assert "MEDCITE_DATA_DIR" in index.advice
    assert demo.state == "warn"


def test_fr_092_a_kernel_that_maps_too_little_for_a_node_of_this_machine_is_a_warning(tmp_path: Path) -> None:
    from medcite.doctor import check_kernel

    count = tmp_path / "max_map_count"
    count.write_text("65530\n", encoding="ascii")
    cluster = IndexSettings(backend="opensearch")
    here = Settings(index=cluster, opensearch=OpenSearchSettings(hosts=("http://127.0.0.1:9200",)))
    elsewhere = Settings(index=cluster, opensearch=OpenSearchSettings(hosts=("https://search.example.org:9200",)))
    (check,) = check_kernel(here, count)
    assert (check.state, "65,530" in check.found, "sysctl -w" in check.advice) == ("warn", True, True)
    assert check_kernel(elsewhere, count) == check_kernel(Settings(), count) == []
    count.write_text("262144\n", encoding="ascii")
    assert [check.state for check in check_kernel(here, count)] == ["ok"]


def test_no_index_is_a_warning_that_says_how_to_get_one(tmp_path: Path) -> None:
    index, demo = doctor.check_index(small_settings(tmp_path))
    assert (index.state, demo.state) == ("warn", "warn")
    assert "medcite ingest files" in index.advice
    assert "medcite up" in demo.advice


def test_no_chat_model_is_fine() -> None:
    assert doctor.check_llm(small_settings(Path("x"))).state == "ok"


def llm_settings(base_url: str, model: str = "stub-model"):
    return small_settings(
        Path("x"), llm__provider="openai", llm__base_url=base_url, llm__model=model, llm__api_key="sk-secret"
    )


def test_a_chat_model_that_answers_is_fine(llm_server: LLMServer) -> None:
    found = doctor.check_llm(llm_settings(llm_server.base_url))
    assert found.state == "ok"
    assert "sk-secret" not in str(found)


def test_a_chat_model_the_server_does_not_have_is_named_with_those_it_has(llm_server: LLMServer) -> None:
    found = doctor.check_llm(llm_settings(llm_server.base_url, "other"))
    assert (found.state, "stub-model" in found.advice) == ("warn", True)


def test_a_refused_key_fails_without_showing_it(llm_server: LLMServer) -> None:
    llm_server.models_status = 401
    found = doctor.check_llm(llm_settings(llm_server.base_url))
    assert found.state == "fail"
    assert "MEDCITE_LLM__API_KEY" in found.advice
    assert "sk-secret" not in str(found)


def test_a_server_that_is_down_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    found = doctor.check_llm(llm_settings(f"http://127.0.0.1:{port}/v1"))
    assert (found.state, "does not answer" in found.found) == ("fail", True)


def test_an_address_that_is_no_model_server_is_a_warning_that_speaks_of_v1() -> None:
    with embedding_server() as server:  # it has no model list
        found = doctor.check_llm(llm_settings(server.base_url))
    assert (found.state, "/v1" in found.advice) == ("warn", True)


def test_no_address_fails() -> None:
    assert doctor.check_llm(llm_settings("")).state == "fail"


def test_the_packaged_model_needs_no_network(tmp_path: Path) -> None:
    assert doctor.check_model_files(small_settings(tmp_path)).state == "ok"


def test_a_model_that_is_not_downloaded_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    found = doctor.check_model_files(small_settings(tmp_path, embedding__model="WhereIsAI/UAE-Large-V1"))
    assert found.state == "warn"


def test_a_taken_port_is_a_warning(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        found = doctor.check_port(small_settings(tmp_path, server__port=sock.getsockname()[1]))
    assert found.state == "warn"


def test_a_check_that_breaks_is_reported_and_the_others_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_build
) -> None:
    torch_build(None, False)

    def broken(_: object) -> None:
        raise RuntimeError("inner fault")

    monkeypatch.setattr(doctor, "check_disk", broken)
    found = {check.name: check for check in doctor.run_checks(small_settings(tmp_path))}
    assert (found["disk"].state, found["disk"].found) == ("fail", "RuntimeError: inner fault")
    assert {
        "Python",
        "packages",
        "index",
        "demo index",
        "embedding model",
        "torch",
        "chat model",
        "page",
        "port",
    } <= set(found)
    assert json.dumps([check.to_dict() for check in found.values()])
