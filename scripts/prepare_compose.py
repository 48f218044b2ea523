"""Prepares `docker compose up`: certificates for OpenSearch and a password in .env.  python3 scripts/prepare_compose.py

Standard library and the `openssl` command. Safe to run again: what is there is kept.

    python3 scripts/prepare_compose.py --password-file FILE   take the password from a file (- reads standard input)
    python3 scripts/prepare_compose.py --new-certificates     make new certificates, when they end or a name changed
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import string
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "OPENSEARCH_PASSWORD"
MIN_LENGTH = 12
RULE = f"at least {MIN_LENGTH} characters: a small and a capital letter, a digit, another sign; no quote, no space"
DAYS = "825"
STDIN = "-"
MAX_MAP_COUNT = 262_144


class PrepareError(Exception):
    """Something is missing or wrong; the text says what, and what to do."""


def check_password(password: str) -> str:
    """The password, if OpenSearch would take it and a .env file can hold it.

    Raises:
        PrepareError: it is too weak, or holds what cannot be written; repeats the rule, never the password.
    """
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    has_sign = any(not c.isalnum() for c in password)
    is_strong = len(password) >= MIN_LENGTH and has_sign and all(set(kind) & set(password) for kind in kinds)
    if not is_strong or re.search(r"['\"\\\s]|[^\x21-\x7e]", password):
        raise PrepareError(f"this password cannot be used. It must have {RULE}.")
    return password


def new_password() -> str:
    """A random one that meets the rule."""
    signs = "-_+=.,:@%"
    while True:
        password = "".join(secrets.choice(string.ascii_letters + string.digits + signs) for _ in range(28))
        try:
            return check_password(password)
        except PrepareError:
            continue


def write_password(env: Path, password: str) -> None:
    """Put it into the .env file, in single quotes: then Compose takes $ and # as they are. Other lines stay."""
    lines = env.read_text(encoding="utf-8").splitlines() if env.exists() else []
    kept = [line for line in lines if not line.startswith(f"{NAME}=")]
    partial = env.with_name(f"{env.name}.part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write("\n".join([*kept, f"{NAME}='{password}'"]) + "\n")
    partial.replace(env)


def has_password(env: Path) -> bool:
    """Whether the .env file names one."""
    return env.exists() and any(line.startswith(f"{NAME}=") for line in env.read_text(encoding="utf-8").splitlines())


def make_certificates(folder: Path) -> None:
    """An authority of our own, a certificate for the node and one for the administrator.

    Raises:
        PrepareError: there is no openssl, or it failed.
    """
    if shutil.which("openssl") is None:
        raise PrepareError("there is no `openssl` command. Install it (Debian: apt install openssl).")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".certificates-") as made:
        here = Path(made)
        _openssl(here, "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", DAYS, "-keyout", "ca-key.pem", "-out",
                 "ca.pem", "-subj", "/O=medcite/CN=medcite authority")  # fmt: skip
        _signed(here, "node", "/O=medcite/CN=opensearch", "DNS:opensearch,DNS:localhost,IP:127.0.0.1")
        _signed(here, "admin", "/O=medcite/CN=admin", "")
        # The containers read them as users of their own; the folder is what keeps others out.
        for file in here.glob("*.pem"):
            file.chmod(0o644)
        (here / "ca-key.pem").chmod(0o600)
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(here, folder)
    folder.chmod(0o755)


def _signed(here: Path, name: str, subject: str, names: str) -> None:
    _openssl(here, "req", "-new", "-newkey", "rsa:3072", "-nodes", "-keyout", f"{name}-key.pem", "-out", f"{name}.csr",
             "-subj", subject)  # fmt: skip
    extensions = "extendedKeyUsage=serverAuth,clientAuth\n" + (f"subjectAltName={names}\n" if names else "")
    (here / f"{name}.ext").write_text(extensions, encoding="ascii")
    _openssl(here, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
             "-days", DAYS, "-extfile", f"{name}.ext", "-out", f"{name}.pem")  # fmt: skip
    for left in (f"{name}.csr", f"{name}.ext", "ca.srl"):
        (here / left).unlink(missing_ok=True)


def _openssl(here: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=here, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PrepareError(f"openssl failed: {done.stderr.strip()[-300:]}")


def low_map_count(path: Path = Path("/proc/sys/vm/max_map_count")) -> str:
    """What to do when the kernel lets OpenSearch map too few areas; empty when it is as it should be, or not Linux."""
    try:
        count = int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return ""
    if count >= MAX_MAP_COUNT:
        return ""
    return (
        f"vm.max_map_count is {count:,}; OpenSearch ends with code 137 or refuses to start below {MAX_MAP_COUNT:,}.\n"
        f"Set it:  sudo sysctl -w vm.max_map_count={MAX_MAP_COUNT}   (and in /etc/sysctl.conf, to keep it)"
    )


def main(arguments: list[str]) -> int:
    """Make what is missing; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--password-file", metavar="FILE")
    parser.add_argument("--new-certificates", action="store_true")
    options = parser.parse_args(arguments)
    env, certificates = ROOT / ".env", ROOT / "docker" / "certificates"
    try:
        if options.password_file:
            given = (
                sys.stdin.read() if options.password_file == STDIN else Path(options.password_file).read_text("utf-8")
            )
            write_password(env, check_password(given.rstrip("\n")))
            print(f"{NAME}: written to .env")
        elif not has_password(env):
            write_password(env, new_password())
            print(f"{NAME}: a new one is in .env")
        if options.new_certificates or not (certificates / "admin.pem").exists():
            make_certificates(certificates)
            print("certificates: in docker/certificates")
    except (PrepareError, OSError) as error:
        print(f"medcite: {error}", file=sys.stderr)
        return 1
    if told := low_map_count():
        print(told, file=sys.stderr)
    print("Ready:  docker compose up --detach --wait")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
