"""Puts the passages found for a claim into a better order, with a cross-encoder that reads both together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.errors import InvalidSettings
from medcite_core.types import Passage

BATCH = 16
MAX_TOKENS = 512


class CrossEncoderReranker:
    """A Hugging Face cross-encoder of one output (relevance). Loaded at the first use; safe to call from threads."""

    def __init__(self, model: str, revision: str = "", device: str = "cpu") -> None:
        self._source = model
        self._revision = revision
        self._device = device
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """Model and revision."""
        return "@".join(filter(None, (self._source, self._revision)))

    def rerank(self, query: str, passages: Sequence[Passage], k: int) -> list[Passage]:
        """The k best, the best first; passages of equal scores stay in their order.

        Raises:
            InvalidSettings: the model cannot be loaded, or it is not one that ranks.
        """
        if not passages:
            return []
        scores = self._scores(query, [f"{p.record.title}\n{p.chunk.text}" for p in passages])
        return [passages[int(at)] for at in np.argsort(-scores, kind="stable")[:k]]

    def _scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        import torch

        model, tokenizer = self._model()
        limit = min(MAX_TOKENS, int(getattr(tokenizer, "model_max_length", MAX_TOKENS)))
        rows = []
        with self._lock, torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                some = list(texts[start : start + BATCH])
                inputs = tokenizer(
                    [query] * len(some),
                    some,
                    padding=True,
                    truncation="longest_first",
                    max_length=limit,
                    return_tensors="pt",
                ).to(self._device)
                rows.append(model(**inputs).logits[:, 0].float().cpu().numpy().astype(np.float64))
        return np.concatenate(rows)

    def _model(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer

                options = {"revision": self._revision} if self._revision else {}
                try:
                    tokenizer = AutoTokenizer.from_pretrained(self._source, **options)
                    model = AutoModelForSequenceClassification.from_pretrained(self._source, **options)
                except (OSError, ValueError) as error:
                    raise InvalidSettings(
                        f"the reranker {self._source} cannot be loaded: {str(error).splitlines()[0][:200]}",
                        "Name a folder with a saved cross-encoder, or a model of the hub that this machine can reach.",
                    ) from None
                if model.config.num_labels != 1:
                    raise InvalidSettings(
                        f"{self._source} has {model.config.num_labels} outputs; a reranker has one",
                        "Choose a cross-encoder trained to rank, such as one trained on MS MARCO.",
                    )
                self._loaded = (model.to(self._device).eval(), tokenizer)
            return self._loaded
