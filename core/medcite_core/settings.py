"""Every setting, once. Precedence: arguments, environment, `.env`, `--config medcite.yaml`, defaults."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from medcite_core.errors import InvalidSettings
from medcite_core.settings_ncbi import NcbiSettings

PREFIX = "MEDCITE_"
# What container orchestrators inject for a service called "medcite"; not ours.
_INJECTED = re.compile(r"^MEDCITE_(PORT(_\d+_(TCP|UDP).*)?|SERVICE_(HOST|PORT).*)$")

Port = Annotated[int, Field(ge=0, le=65535)]
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?")


def _origins(value: Any) -> Any:
    """Origins from a list or a text with commas, each exactly as a browser sends it."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ValueError("give origins with commas between them, or a list")
    origins = tuple(item.strip() for item in items if item.strip())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"{origin[:80]!r} is not an origin: write scheme, name and port in small letters and nothing behind, "
                "such as http://localhost:5173; '*' is not taken"
            )
    return origins


def _hosts(value: Any) -> Any:
    """Addresses from a list or a text with commas."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ValueError("give addresses with commas between them, or a list")
    hosts = tuple(item.strip().rstrip("/") for item in items if item.strip())
    if not hosts:
        raise ValueError("give at least one address")
    for host in hosts:
        if not re.fullmatch(r"https?://[^\s/@]+(/[^\s]*)?", host):
            raise ValueError(f"{host[:80]!r} is not an address such as https://search.example.org:9200")
    return hosts


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class ServerSettings(_Part):
    """Where the service listens, and its limits."""

    host: str = Field("127.0.0.1", description="Address to listen on; loopback unless you ask for more.")
    port: Port = Field(8000, description="Port; 0 takes any free one.")
    heartbeat_s: float = Field(15.0, gt=0, le=60, description="Longest silence on an event stream.")
    run_grace_s: float = Field(15.0, ge=0, le=600, description="How long a run goes on with nobody watching it.")
    max_runs: int = Field(32, ge=1, le=1000, description="Questions answered at the same time.")
    max_body_bytes: int = Field(1_048_576, ge=1024, description="Largest request body.")
    max_export_records: int = Field(100_000, ge=1, le=10_000_000, description="Most records in one exported file.")
    cors_origins: Annotated[tuple[str, ...], BeforeValidator(_origins)] = Field(
        (), description="Other sites whose pages may call the service, with commas: http://localhost:5173."
    )


class IndexSettings(_Part):
    """The index and how records are cut for it."""

    backend: Literal["lancedb", "opensearch"] = Field(
        "lancedb", description="The engine: 'lancedb' is a folder of this machine, 'opensearch' a cluster."
    )
    chunk_size: int = Field(500, ge=100, le=4000, description="Characters of a chunk, at most.")
    chunk_overlap: int = Field(200, ge=0, le=2000, description="Characters two neighbouring chunks share, at most.")
    min_chunk_chars: int = Field(40, ge=0, le=500, description="A shorter tail is merged into the chunk before it.")

    @field_validator("chunk_overlap")
    @classmethod
    def _below_size(cls, value: int, info: Any) -> int:
        if value >= info.data.get("chunk_size", value + 1):
            raise ValueError("chunk_overlap must be smaller than chunk_size")
        return value


class EmbeddingSettings(_Part):
    """The embedding model."""

    provider: Literal["angle", "openai"] = Field("angle", description="AnglE on this machine, or an endpoint.")
    model: str = Field(
        "minilm",
        description="'minilm' (packaged, offline), 'WhereIsAI/UAE-Large-V1', a folder, or the endpoint's model name.",
    )
    revision: str = Field("", description="Commit of a model on a hub.")
    pooling: Literal["", "mean", "cls", "last"] = Field("", description="Needed for a model medcite does not know.")
    query_prompt: str | None = Field(None, description="Query prompt with {text}; needed for a model not known.")
    device: str = Field("auto", description="'auto', 'cpu', 'cuda', 'mps'.")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto", description="'auto' is bf16 on a CPU with AMX or AVX512_BF16, else fp32."
    )
    batch_size: int = Field(32, ge=1, le=512, description="Texts embedded at once.")
    base_url: str = Field("", description="OpenAI-compatible endpoint, ending in /v1.")
    api_key: SecretStr = Field(SecretStr(""), description="Key of that endpoint.")
    timeout_s: float = Field(60.0, gt=0, le=600, description="Longest wait for one reply of the endpoint.")
    retries: int = Field(5, ge=0, le=10, description="Attempts after a failed one; for a question at most one.")


class RetrievalSettings(_Part):
    """How passages are found."""

    k: int = Field(8, ge=1, le=50, description="Passages given to an answer.")
    reranker_model: str = Field(
        "", description="Cross-encoder that re-orders what is found for a claim: a Hugging Face name or folder; none."
    )
    reranker_revision: str = Field("", description="Commit of the reranker on the hub.")
    candidates: int = Field(100, ge=10, le=1000, description="Chunks taken from each list before fusing.")
    lexical_weight: float = Field(0.5, ge=0, le=1, description="Share of BM25 in the fused score.")
    min_cosine: float = Field(0.30, ge=-1, le=1, description="Below it a passage counts as not relevant.")
    min_relevance: float = Field(
        0.66,
        ge=-1,
        le=1.45,
        description="Below it too: cosine + 0.3 x share of the question's words + 0.15 with the rarest of them.",
    )
    min_coverage: float = Field(
        0.6, ge=0, le=1, description="Share of a question's words a passage needs when words alone are searched."
    )


class LLMSettings(_Part):
    """The chat model; none by default."""

    provider: Literal["none", "openai", "huggingface"] = Field(
        "none", description="'openai' is any OpenAI-compatible endpoint; 'none' answers by quotation."
    )
    base_url: str = Field("", description="Endpoint ending in /v1.")
    model: str = Field("", description="Model name at that endpoint, or Hugging Face repository.")
    api_key: SecretStr = Field(SecretStr(""), description="Key of that endpoint.")
    temperature: float = Field(0.01, ge=0, le=2, description="0 is the least random.")
    max_tokens: int = Field(500, ge=16, le=8192, description="New tokens of an answer, at most.")
    timeout_s: float = Field(60.0, gt=0, le=600, description="Longest wait for the next piece of a reply.")
    context_tokens: int = Field(4096, ge=512, description="The model's window; weakest passages are dropped to fit.")
    retries: int = Field(1, ge=0, le=5, description="Attempts after a failed one.")
    structured_output: Literal["auto", "json_schema", "tool", "prompt"] = Field(
        "auto", description="How JSON is asked for; 'auto' tries them in this order and keeps to what the server takes."
    )
    structured_max_tokens: int = Field(
        2000,
        ge=16,
        le=32768,
        description="New tokens of a JSON reply, at most; a cut one is asked for with twice as many.",
    )


class VerifySettings(_Part):
    """How claims are checked."""

    quote_threshold: float = Field(90.0, ge=50, le=100, description="Least alignment score (0..100) of a quote.")
    allow_retracted_support: bool = Field(False, description="Let retracted records support claims.")
    split_with_chat_model: bool = Field(True, description="Let the chat model, if any, split texts into claims.")
    use_chat_model: bool = Field(
        True, description="Let the chat model, when there is one, judge claims that the rules leave open."
    )
    entailment_model: str = Field(
        "", description="Cross-encoder that reads paraphrases: a Hugging Face name or a folder; none by default."
    )
    entailment_revision: str = Field("", description="Commit of that model on the hub.")
    entailment_threshold: float | None = Field(
        None, ge=0.5, le=1, description="Least confidence of that model; else what `medcite calibrate` found, or 0.9."
    )
    corpus_evidence: int = Field(8, ge=1, le=50, description="Passages of the corpus read for a claim, and against it.")
    document_evidence: int = Field(30, ge=1, le=200, description="Passages of given documents read for a claim.")
    chunk_size: int = Field(500, ge=100, le=4000, description="Characters of a passage of a given document, at most.")
    chunk_overlap: int = Field(150, ge=0, le=2000, description="Characters two such neighbours share, at most.")
    digit_weight: int = Field(2, ge=1, le=5, description="How often a word with digits counts in a search for a claim.")
    concurrency: int = Field(4, ge=1, le=64, description="Claims checked at the same time.")
    max_revisions: int = Field(2, ge=0, le=5, description="How often a chat model is asked again about one claim.")


class OpenSearchSettings(_Part):
    """The cluster, for the backend 'opensearch'."""

    hosts: Annotated[tuple[str, ...], BeforeValidator(_hosts)] = Field(
        ("http://127.0.0.1:9200",), description="Addresses of the cluster's nodes, with commas."
    )
    index: str = Field(
        "medcite",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,100}$",
        description="Alias of the index; what it stands for is numbered.",
    )
    username: str = Field("", description="User name; empty when the cluster asks for none.")
    password: SecretStr = Field(SecretStr(""), description="Password of that user.")
    ca_certs: str = Field("", description="File with the certificate of the authority that signed the cluster's.")
    verify_certs: bool = Field(True, description="Refuse a cluster whose certificate is not trusted.")
    timeout_s: float = Field(30.0, gt=0, le=600, description="Longest wait for one reply.")
    engine: Literal["lucene", "faiss"] = Field("lucene", description="k-NN engine of a new index.")
    m: int = Field(16, ge=4, le=100, description="Links of a vector in the HNSW graph of a new index.")
    ef_construction: int = Field(100, ge=16, le=1000, description="Candidates looked at when a vector is linked.")
    shards: int = Field(1, ge=1, le=1024, description="Primary shards of a new index.")
    replicas: int = Field(0, ge=0, le=10, description="Copies of each shard; 1 or more survives the loss of a node.")
    bulk_bytes: int = Field(5_000_000, ge=10_000, le=100_000_000, description="Largest write request.")


class Settings(BaseSettings):
    """The whole tree. Built once, by the command, and passed on as an argument."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, env_ignore_empty=True
    )

    data_dir: Path = Field(Path("data"), description="All state of an installation lies under this folder.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_format: Literal["plain", "json"] = Field("plain", description="Log lines to read, or one JSON value a line.")
    server: ServerSettings = ServerSettings()
    ncbi: NcbiSettings = NcbiSettings()
    index: IndexSettings = IndexSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    opensearch: OpenSearchSettings = OpenSearchSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    llm: LLMSettings = LLMSettings()
    verify: VerifySettings = VerifySettings()


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Dotted name of every leaf setting: `server.port`."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from setting_names(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def env_name(setting: str) -> str:
    """`server.port` → `MEDCITE_SERVER__PORT`."""
    return PREFIX + setting.upper().replace(".", "__")


def _check_names(names: Mapping[str, str]) -> None:
    """`names` maps what was written to where; each must be a setting's environment name."""
    known = {env_name(n) for n in setting_names()}
    for name, where in names.items():
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
            raise InvalidSettings(
                f"{where} is not a setting" + (f"; did you mean {near[0]}?" if near else ""),
            )


def _flatten(raw: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in raw.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


class LoadedSettings:
    """Settings together with where each value came from."""

    def __init__(self, settings: Settings, origins: dict[str, str]) -> None:
        self.settings = settings
        self.origins = origins

    def rows(self) -> list[dict[str, str]]:
        """One row a setting: name, environment variable, value (secrets masked), origin, description."""
        rows = []
        for name in setting_names():
            value: Any = self.settings
            model: Any = Settings
            description = ""
            for part in name.split("."):
                description = model.model_fields[part].description or ""
                model = model.model_fields[part].annotation
                value = getattr(value, part)
            if isinstance(value, tuple):
                value = ",".join(value)
            if isinstance(value, SecretStr):
                value = "********" if value.get_secret_value() else ""
            rows.append(
                {
                    "setting": name,
                    "variable": env_name(name),
                    "value": "" if value is None else str(value),
                    "origin": self.origins.get(name, "default"),
                    "description": description,
                }
            )
        return rows


def load_settings(
    arguments: Mapping[str, Any] | None = None,
    *,
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    env_file: Path | None = Path(".env"),
) -> LoadedSettings:
    """Read settings from all sources. `arguments` are dotted names (`{"server.port": 8100}`); None values are dropped.

    Raises:
        InvalidSettings: a misspelt name (the nearest one is named), a value out of range, or an unreadable file.
    """
    environ = os.environ if environ is None else environ
    from_env = {
        k.upper(): v for k, v in environ.items() if k.upper().startswith(PREFIX) and not _INJECTED.match(k.upper())
    }
    from_file = _read_env_file(env_file)
    written = dict(_flatten(_read_yaml(config_file)))
    # "server:" with all its keys commented out is a section that sets nothing.
    sections = {name.partition(".")[0] for name in setting_names() if "." in name}
    from_yaml = {k: v for k, v in written.items() if v is not None or k not in sections}
    from_arguments = {k: v for k, v in (arguments or {}).items() if v is not None}
    _check_names({k: f"environment variable {k}" for k in from_env})
    _check_names({k: f"{k} in {env_file}" for k in from_file})
    _check_names({env_name(k): f"{k} in {config_file}" for k in from_yaml})
    _check_names({env_name(k): f"argument {k}" for k in from_arguments})

    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    layers: list[tuple[dict[str, Any], str]] = [
        (from_yaml, str(config_file)),
        ({_setting_of(k): v for k, v in from_file.items() if v != ""}, str(env_file)),
        ({_setting_of(k): v for k, v in from_env.items() if v != ""}, "environment"),
        (from_arguments, "argument"),
    ]
    for values, origin in layers:
        for name, value in values.items():
            merged[name] = value
            origins[name] = origin
    tree: dict[str, Any] = {}
    for name, value in merged.items():
        node = tree
        *parents, leaf = name.split(".")
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    try:
        return LoadedSettings(_ExplicitSettings.model_validate(tree), origins)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(p) for p in first["loc"])
        raise InvalidSettings(
            f"setting {name} ({origins.get(name, 'default')}): {first['msg']}",
            f"Its environment name is {env_name(name)}; `medcite config` describes it.",
        ) from None


class _ExplicitSettings(Settings):
    """Settings whose sources `load_settings` has merged already, so that each value's origin is known."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the names are the library's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def _setting_of(variable: str) -> str:
    return variable.removeprefix(PREFIX).lower().replace("__", ".")


def _read_yaml(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSettings(f"cannot read {path}: {error.strerror}", "Check the path given to --config.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path} is not valid YAML: {str(error)[:200]}", "Check its indentation.") from None
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise InvalidSettings(f"{path} must hold a mapping of settings")
    return raw


def _read_env_file(path: Path | None) -> dict[str, str]:
    from dotenv import dotenv_values

    if path is None or not path.is_file():
        return {}
    values = dotenv_values(path, interpolate=False)
    return {
        k.upper(): v or "" for k, v in values.items() if k.upper().startswith(PREFIX) and not _INJECTED.match(k.upper())
    }
