"""Where settings come from, which source wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from medcite_core.errors import InvalidSettings
from medcite_core.settings import Settings, env_name, load_settings, setting_names

ROOT = Path(__file__).parents[2]


def test_without_any_source_every_value_is_the_default_and_says_so() -> None:
    loaded = load_settings({}, environ={}, env_file=None)
    assert loaded.settings.server.port == 8000
    assert {row["origin"] for row in loaded.rows()} == {"default"}


def test_arguments_win_over_environment_over_env_file_over_yaml_over_defaults(tmp_path: Path) -> None:
    config, env_file = tmp_path / "medcite.yaml", tmp_path / ".env"
    config.write_text("server: {port: 1, host: 0.0.0.0}\nretrieval: {k: 3}\nllm: {model: yaml-model}\n")
    env_file.write_text("MEDCITE_SERVER__PORT=2\nMEDCITE_RETRIEVAL__K=4\nMEDCITE_LLM__MODEL=file-model\n")
    environ = {"MEDCITE_SERVER__PORT": "3", "MEDCITE_RETRIEVAL__K": "5"}
    loaded = load_settings({"server.port": 4}, config_file=config, environ=environ, env_file=env_file)
    found = loaded.settings
    assert (found.server.port, found.retrieval.k, found.llm.model, found.server.host) == (4, 5, "file-model", "0.0.0.0")
    assert loaded.origins == {
        "server.port": "argument",
        "retrieval.k": "environment",
        "llm.model": str(env_file),
        "server.host": str(config),
    }


def test_an_argument_that_was_not_given_does_not_hide_the_environment() -> None:
    loaded = load_settings({"server.port": None}, environ={"MEDCITE_SERVER__PORT": "8100"}, env_file=None)
    assert loaded.settings.server.port == 8100


def test_an_empty_variable_means_not_set() -> None:
    assert load_settings({}, environ={"MEDCITE_SERVER__PORT": ""}, env_file=None).settings.server.port == 8000


@pytest.mark.parametrize(
    ("environ", "nearest"),
    [
        ({"MEDCITE_SERVER__PROT": "1"}, "MEDCITE_SERVER__PORT"),
        ({"MEDCITE_DATADIR": "x"}, "MEDCITE_DATA_DIR"),
        ({"MEDCITE_LLM_BASE_URL": "x"}, "MEDCITE_LLM__BASE_URL"),
        ({"medcite_llm__modell": "x"}, "MEDCITE_LLM__MODEL"),
    ],
)
def test_a_misspelt_variable_is_an_error_that_names_the_nearest_one(environ: dict[str, str], nearest: str) -> None:
    with pytest.raises(InvalidSettings, match=f"did you mean {nearest}"):
        load_settings({}, environ=environ, env_file=None)


def test_a_misspelt_key_in_yaml_or_env_file_is_an_error_that_names_file_and_nearest(tmp_path: Path) -> None:
    config, env_file = tmp_path / "medcite.yaml", tmp_path / ".env"
    config.write_text("server: {prot: 1}\n")
    with pytest.raises(InvalidSettings, match=r"server.prot in .*medcite.yaml.*MEDCITE_SERVER__PORT"):
        load_settings({}, config_file=config, environ={}, env_file=None)
    env_file.write_text("MEDCITE_LLM__KEY=x\n")
    with pytest.raises(InvalidSettings, match=r"MEDCITE_LLM__KEY in .*\.env"):
        load_settings({}, environ={}, env_file=env_file)


def test_a_section_with_nothing_in_it_sets_nothing_and_a_misspelt_one_is_still_an_error(tmp_path: Path) -> None:
    config = tmp_path / "medcite.yaml"
    config.write_text("server:\nllm:\n  # model: x\n", encoding="utf-8")
    assert load_settings(config_file=config, environ={}, env_file=None).settings.server.port == 8000
    config.write_text("servr:\n", encoding="utf-8")
    with pytest.raises(InvalidSettings, match="servr"):
        load_settings(config_file=config, environ={}, env_file=None)


def test_what_container_orchestrators_inject_is_ignored() -> None:
    environ = {
        "MEDCITE_PORT": "tcp://10.0.0.7:8000",
        "MEDCITE_PORT_8000_TCP": "tcp://10.0.0.7:8000",
        "MEDCITE_PORT_8000_TCP_ADDR": "10.0.0.7",
        "MEDCITE_SERVICE_HOST": "10.0.0.7",
        "MEDCITE_SERVICE_PORT": "8000",
        "MEDCITE_SERVICE_PORT_HTTP": "8000",
    }
    assert load_settings({}, environ=environ, env_file=None).origins == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"server.port": 70000}, "server.port"),
        ({"index.chunk_overlap": 500}, "smaller than chunk_size"),
        ({"llm.provider": "openia"}, "llm.provider"),
        ({"retrieval.k": "many"}, "retrieval.k"),
    ],
)
def test_a_value_out_of_range_names_the_setting_and_its_variable(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidSettings, match=said) as caught:
        load_settings(arguments, environ={}, env_file=None)
    assert env_name(next(iter(arguments))) in caught.value.hint


@pytest.mark.parametrize("text", ["server: [1, 2", "- a\n- b\n", "\x00"])
def test_a_broken_settings_file_is_a_clear_error(tmp_path: Path, text: str) -> None:
    config = tmp_path / "medcite.yaml"
    config.write_text(text)
    with pytest.raises(InvalidSettings, match=r"medcite\.yaml"):
        load_settings({}, config_file=config, environ={}, env_file=None)


def test_a_missing_settings_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="cannot read"):
        load_settings({}, config_file=tmp_path / "none.yaml", environ={}, env_file=None)


def test_secrets_are_masked_where_they_are_shown() -> None:
    loaded = load_settings({}, environ={"MEDCITE_LLM__API_KEY": "sk-very-secret"}, env_file=None)
    assert loaded.settings.llm.api_key.get_secret_value() == "sk-very-secret"
    assert "sk-very-secret" not in repr(loaded.rows()) + repr(loaded.settings) + str(loaded.settings)
    row = next(row for row in loaded.rows() if row["setting"] == "llm.api_key")
    assert (row["value"], row["origin"]) == ("********", "environment")


def test_the_sample_yaml_lists_every_setting_with_its_default() -> None:
    path = ROOT / "medcite.example.yaml"
    loaded = load_settings({}, config_file=path, environ={}, env_file=None)
    assert set(loaded.origins) == set(setting_names())
    assert loaded.settings.model_dump() == _defaults().model_dump()
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["llm"]["api_key"] == ""


def test_the_sample_env_file_lists_every_setting_with_its_default(tmp_path: Path) -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    uncommented = [line.removeprefix("#") for line in lines if line.startswith("#MEDCITE_")]
    assert [line.partition("=")[0] for line in uncommented] == [env_name(name) for name in setting_names()]
    (tmp_path / ".env").write_text("\n".join(uncommented))
    loaded = load_settings({}, environ={}, env_file=tmp_path / ".env")
    assert loaded.settings.model_dump() == _defaults().model_dump()


def _defaults() -> Settings:
    return load_settings({}, environ={}, env_file=None).settings


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://localhost:5173", ("http://localhost:5173",)),
        ("http://localhost:5173, https://a.example ,", ("http://localhost:5173", "https://a.example")),
        (["http://[::1]:8080"], ("http://[::1]:8080",)),
        ([], ()),
    ],
)
def test_other_sites_are_named_by_their_exact_origins(written: object, read: tuple[str, ...]) -> None:
    loaded = load_settings({"server.cors_origins": written}, environ={}, env_file=None)
    assert loaded.settings.server.cors_origins == read
    row = next(row for row in loaded.rows() if row["setting"] == "server.cors_origins")
    assert row["value"] == ",".join(read)


@pytest.mark.parametrize(
    "written", ["*", "null", "http://a.example/", "http://a.example/path", "a.example", "ftp://a.example", 5, [5]]
)
def test_what_is_no_origin_is_refused(written: object) -> None:
    with pytest.raises(InvalidSettings, match="cors_origins"):
        load_settings({"server.cors_origins": written}, environ={}, env_file=None)
