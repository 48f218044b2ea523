"""The container files, as far as they can be checked without an engine: by Compose, its schema, hadolint, our rules."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from medcite_middleware.api.guard import SECURITY_HEADERS

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
FILES = ("docker-compose.yml", "docker-compose.embedded.yml")
PROFILES = ("ingestion", "dashboards", "llm")
GOLDEN = ROOT / "tests" / "golden" / "containers"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips a test where a program is not to be had: in the environment's `bin`, or on the path."""
    missing = [name for name in programs if shutil.which(name, path=f"{BIN}{os.pathsep}{os.environ['PATH']}") is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} on this machine")


def compose(name: str, *, password: str = "zK9-vQ_7mTplx!2", env_file: Path | None = None) -> dict[str, Any]:
    """A compose file as Compose understands it, every profile on."""
    environ = {"PATH": os.environ["PATH"], **({} if env_file else {"OPENSEARCH_PASSWORD": password})}
    command = [str(BIN / "docker-compose"), "-f", name, *(part for p in PROFILES for part in ("--profile", p))]
    command += ["--env-file", str(env_file)] if env_file else []
    done = subprocess.run(
        [*command, "config", "--format", "json"], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare_compose", ROOT / "scripts" / "prepare_compose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs("docker-compose")
@pytest.mark.parametrize("name", FILES)
def test_the_compose_files_follow_the_schema_and_only_loopback_is_published(name: str) -> None:
    schema = [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", name]
    done = subprocess.run(schema, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    ports = [port for service in compose(name)["services"].values() for port in service.get("ports", [])]
    assert ports
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}


@needs("docker-compose")
@pytest.mark.parametrize("name", FILES)
def test_every_service_is_bounded_and_has_no_rights_it_does_not_need(name: str) -> None:
    for label, service in compose(name)["services"].items():
        assert service["cap_drop"] == ["ALL"], label
        assert service["security_opt"] == ["no-new-privileges:true"], label
        assert int(service["mem_limit"]) > 0, label
        assert "privileged" not in service, label
        assert service["restart"], label
        if "opensearch:" not in service["image"] and "dashboards:" not in service["image"]:
            assert service["read_only"] is True, label


@needs("docker-compose")
def test_fr_254_what_needs_another_service_waits_until_it_is_healthy() -> None:
    services = compose("docker-compose.yml")["services"]
    waits = {name: {n: d["condition"] for n, d in s.get("depends_on", {}).items()} for name, s in services.items()}
    assert waits["opensearch-user"] == {"opensearch": "service_healthy"}
    assert waits["middleware"] == {"opensearch-user": "service_completed_successfully"}
    assert waits["frontend"] == {"middleware": "service_healthy"}
    assert services["opensearch"]["healthcheck"]["retries"] >= 20


@needs("docker-compose")
def test_fr_255_the_service_needs_no_model_server_to_start() -> None:
    services = compose("docker-compose.yml")["services"]
    assert "llm" not in services["middleware"].get("depends_on", {})
    assert services["middleware"]["environment"]["MEDCITE_LLM__PROVIDER"] == "none"


@needs("docker-compose")
def test_fr_256_no_container_changes_the_kernel_and_no_image_is_bound_to_a_platform() -> None:
    for name in FILES:
        for label, service in compose(name)["services"].items():
            assert "sysctls" not in service, label
            assert "platform" not in service, label
    for file in (ROOT / "docker").glob("*.Dockerfile"):
        assert "--platform" not in file.read_text(encoding="utf-8")


@needs("docker-compose")
def test_data_lies_in_named_volumes_and_no_secret_in_an_image_or_a_tracked_file() -> None:
    services = compose("docker-compose.yml")["services"]
    kinds = {v["target"]: v["type"] for s in services.values() for v in s.get("volumes", [])}
    assert kinds["/data"] == kinds["/usr/share/opensearch/data"] == "volume"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in tracked if name == ".env" or name.endswith(("-key.pem", ".pem"))]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1] == "*"
    assert not [line for line in ignored if line.startswith("!") and ("env" in line or "certificates" in line)]


@needs("hadolint")
@pytest.mark.parametrize("file", sorted((ROOT / "docker").glob("*.Dockerfile")), ids=lambda file: file.name)
def test_the_images_are_found_sound_and_run_as_nobody_in_particular(file: Path) -> None:
    done = subprocess.run([str(BIN / "hadolint"), str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    text = file.read_text(encoding="utf-8")
    last = text[text.rindex("\nFROM ") :]
    assert "USER 10001" in last or "unprivileged" in last
    assert "HEALTHCHECK" in last
    assert text.count("\nFROM ") >= 2


def test_what_the_images_copy_is_there() -> None:
    for file in (ROOT / "docker").glob("*.Dockerfile"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("COPY ") and "--from" not in line:
                for name in line.split()[1:-1]:
                    assert (ROOT / name).exists(), f"{file.name}: {name}"


def test_fr_123_and_124_the_proxy_passes_events_on_at_once_and_says_so_to_the_next_one() -> None:
    text = (ROOT / "docker" / "nginx.conf").read_text(encoding="utf-8")
    service = text[text.index("location ~") :]
    for wanted in ("proxy_buffering off;", "gzip off;", "proxy_pass_header X-Accel-Buffering;"):
        assert wanted in service
    seconds = int(re.findall(r"proxy_read_timeout (\d+)s", service)[0])
    assert seconds >= 4 * 60
    for name, value in SECURITY_HEADERS.items():
        assert f'add_header {name} "{value}" always;' in text


@needs("docker-compose")
def test_fr_089_a_weak_password_is_refused_with_the_rule_and_any_sign_arrives_as_given(
    prepare: ModuleType, tmp_path: Path
) -> None:
    weak, with_dollar, strong = (GOLDEN / "FR-089-passwords.txt").read_text(encoding="utf-8").split()
    with pytest.raises(prepare.PrepareError) as refused:
        prepare.check_password(weak)
    assert "at least 12 characters" in str(refused.value)
    assert weak not in str(refused.value)
    for password in (with_dollar, strong, "aB3#${HOME}%$x=y,z"):
        env = tmp_path / ".env"
        env.write_text("OTHER=kept\n", encoding="utf-8")
        prepare.write_password(env, prepare.check_password(password))
        found = compose("docker-compose.yml", env_file=env)["services"]
        # In a printed configuration Compose writes a dollar twice.
        for service, name in (
            ("middleware", "MEDCITE_OPENSEARCH__PASSWORD"),
            ("opensearch-user", "OPENSEARCH_PASSWORD"),
        ):
            assert found[service]["environment"][name].replace("$$", "$") == password
        assert "OTHER=kept" in env.read_text(encoding="utf-8")
        assert stat.S_IMODE(env.stat().st_mode) == 0o600


def test_made_passwords_meet_the_rule_and_differ(prepare: ModuleType) -> None:
    made = {prepare.new_password() for _ in range(50)}
    assert len(made) == 50
    assert all(prepare.check_password(password) for password in made)


@needs("openssl")
def test_certificates_are_of_one_authority_and_name_the_node(prepare: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    prepare.make_certificates(folder)
    for name in ("node", "admin"):
        check = ["openssl", "verify", "-CAfile", str(folder / "ca.pem"), str(folder / f"{name}.pem")]
        assert subprocess.run(check, capture_output=True, check=False).returncode == 0
    shown = subprocess.run(
        ["openssl", "x509", "-in", str(folder / "node.pem"), "-noout", "-ext", "subjectAltName", "-subject"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "DNS:opensearch" in shown
    assert stat.S_IMODE((folder / "ca-key.pem").stat().st_mode) == 0o600
    settings = yaml.safe_load((ROOT / "docker" / "opensearch" / "opensearch.yml").read_text(encoding="utf-8"))
    subject = subprocess.run(
        ["openssl", "x509", "-in", str(folder / "admin.pem"), "-noout", "-subject", "-nameopt", "RFC2253"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.partition("=")[2]
    assert subject.strip() == settings["plugins.security.authcz.admin_dn"][0]
    users = yaml.safe_load((ROOT / "docker" / "opensearch" / "internal_users.yml").read_text(encoding="utf-8"))
    assert list(users) == ["_meta"]


def test_fr_092_a_kernel_that_lets_too_little_be_mapped_is_said_with_the_command(
    prepare: ModuleType, tmp_path: Path
) -> None:
    low = tmp_path / "max_map_count"
    low.write_text("65530\n", encoding="ascii")
    told = prepare.low_map_count(low)
    assert "65,530" in told
    assert "sudo sysctl -w vm.max_map_count=262144" in told
    low.write_text("262144\n", encoding="ascii")
    assert prepare.low_map_count(low) == ""
    assert prepare.low_map_count(tmp_path / "none") == ""
