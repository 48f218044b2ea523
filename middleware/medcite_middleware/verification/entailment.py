"""A cross-encoder on this machine that reads paraphrases: does a passage entail a claim, or contradict it?

Any Hugging Face sequence classifier with two or three labels. Each window of whole sentences is read together with the
claim; the strongest entailment and the strongest contradiction decide, and below the threshold it abstains.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from medcite_core.answers import QuoteProof, Verdict, VerdictLabel
from medcite_core.errors import InvalidSettings
from medcite_core.ports import Case
from medcite_core.sentences import sentence_spans
from medcite_core.types import Evidence, Span
from medcite_middleware.verification.calibration import Calibration
from medcite_middleware.verification.marks import without_marks
from medcite_middleware.verification.sources import quote_proof, states

WINDOW_SENTENCES = 3
MAX_WINDOWS = 240
"""Windows read for one claim; what lies beyond them is said to be left out."""
BATCH = 16
MAX_TOKENS = 512
DEFAULT_THRESHOLD = 0.9

_MEANINGS: dict[str, tuple[str, ...]] = {
    "entails": ("entailment", "entail", "entails", "supports", "support", "supported", "true", "yes"),
    "contradicts": ("contradiction", "contradict", "contradicts", "refutes", "refute", "refuted", "contradicted"),
    "neither": (
        *("neutral", "not_enough_info", "not enough info", "nei", "unknown", "not_entailment", "not entailment"),
        *("not_supported", "unsupported", "false", "no"),
    ),
}


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """Which output of a model means what; `contradicts` is None for a model of two labels."""

    entails: int
    contradicts: int | None


def label_order(id2label: Mapping[int, str], model: str) -> LabelOrder:
    """The order of a model's labels, read from its configuration.

    Raises:
        InvalidSettings: the labels do not say which one means entailment.
    """
    found: dict[str, int] = {}
    for number, label in id2label.items():
        name = str(label).strip().casefold().replace("-", "_")
        for meaning, names in _MEANINGS.items():
            if name in names:
                found.setdefault(meaning, int(number))
    if "entails" not in found or len(id2label) not in (2, 3) or (len(id2label) == 3 and "contradicts" not in found):
        raise InvalidSettings(
            f"the labels of {model} do not say which one means entailment: {', '.join(map(str, id2label.values()))}",
            "Choose a cross-encoder trained for inference, whose configuration names entailment (and contradiction).",
        )
    return LabelOrder(found["entails"], found.get("contradicts") if len(id2label) == 3 else None)


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences in a row of one piece of evidence; `span` slices the source's text."""

    evidence: Evidence
    span: Span
    sentences: int

    @property
    def text(self) -> str:
        """Its words."""
        return self.span.of(self.evidence.source.text)


class EntailmentModel:
    """The cross-encoder. It is loaded at the first use; safe to call from several threads."""

    def __init__(self, model: str, revision: str = "", device: str = "cpu") -> None:
        self.name = model
        self.revision = revision
        self._device = device
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, LabelOrder] | None = None

    def probabilities(self, pairs: Sequence[tuple[str, str]], temperature: float = 1.0) -> npt.NDArray[np.float64]:
        """Shape (pairs, 2): entailment and contradiction (0 for a model that does not know it), for (premise, claim).

        Raises:
            InvalidSettings: the model cannot be loaded, or its labels are not known.
        """
        logits = self.logits(pairs) / temperature
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = shifted / shifted.sum(axis=1, keepdims=True)
        order = self.order
        against = shares[:, order.contradicts] if order.contradicts is not None else np.zeros(len(shares))
        return np.stack([shares[:, order.entails], against], axis=1)

    @property
    def order(self) -> LabelOrder:
        """What its outputs mean."""
        return self._model()[2]

    def logits(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Shape (pairs, labels): the model's raw outputs. Long premises are cut at its window's end."""
        import torch

        model, tokenizer, _ = self._model()
        rows: list[npt.NDArray[np.float64]] = []
        # Pairs of a length are read together; their order is restored in the end.
        by_length = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0]))
        with self._lock, torch.inference_mode():
            for start in range(0, len(pairs), BATCH):
                some = [pairs[at] for at in by_length[start : start + BATCH]]
                inputs = tokenizer(
                    [premise for premise, _ in some],
                    [claim for _, claim in some],
                    padding=True,
                    truncation="only_first",
                    max_length=min(MAX_TOKENS, int(getattr(tokenizer, "model_max_length", MAX_TOKENS))),
                    return_tensors="pt",
                ).to(self._device)
                rows.append(model(**inputs).logits.float().cpu().numpy().astype(np.float64))
        found = np.concatenate(rows) if rows else np.zeros((0, 2))
        restored = np.empty_like(found)
        restored[by_length] = found
        return restored

    def _model(self) -> tuple[Any, Any, LabelOrder]:
        with self._lock:
            if self._loaded is None:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer

                options = {"revision": self.revision} if self.revision else {}
                try:
                    tokenizer = AutoTokenizer.from_pretrained(self.name, **options)
                    model = AutoModelForSequenceClassification.from_pretrained(self.name, **options)
                except (OSError, ValueError) as error:
                    raise InvalidSettings(
                        f"the entailment model {self.name} cannot be loaded: {str(error).splitlines()[0][:200]}",
                        "Name a folder with a saved cross-encoder, or a model of the hub that this machine can reach.",
                    ) from None
                order = label_order(model.config.id2label, self.name)
                self._loaded = (model.to(self._device).eval(), tokenizer, order)
            return self._loaded


class EntailmentJudge:
    """Decides paraphrases by a cross-encoder, and abstains where it is not sure enough."""

    def __init__(self, model: EntailmentModel, calibration: Calibration) -> None:
        self._model = model
        self._calibration = calibration

    @property
    def name(self) -> str:
        """`entailment`."""
        return "entailment"

    def judge(self, case: Case) -> Verdict:
        """The verdict of one claim, from the passages of the evidence (whole sources when there are no passages)."""
        windows, left_out = windows_of(case.evidence)
        if not windows:
            return self._verdict(case, "unchecked", "source_unreadable", "There is no evidence to read.", ())
        claim = without_marks(case.claim.standalone)
        shares = self._model.probabilities([(w.text, claim) for w in windows], self._calibration.temperature)
        threshold = self._calibration.threshold
        supports, against = (_most_telling(windows, shares[:, column], threshold) for column in (0, 1))
        confidence, opposition = float(shares[supports, 0]), float(shares[against, 1])
        searched = f"The entailment model read {len(windows)} windows of the evidence" + (
            f"; {left_out} were left out." if left_out else "."
        )
        says, denies = windows[supports], windows[against]
        is_for, is_against = confidence >= threshold, opposition >= threshold
        if is_for and is_against:
            proofs = (_proof(says, "supports"), _proof(denies, "contradicts"))
            explanation = "One passage says this, another the opposite."
            return self._verdict(
                case, "conflicting", "sources_disagree", explanation, proofs, min(confidence, opposition), searched
            )
        if is_for:
            explanation = "The source says this in other words."
            proof = (_proof(says, "supports"),)
            return self._verdict(case, "supported", "paraphrase", explanation, proof, confidence, searched)
        if is_against:
            explanation = "The source says the opposite in other words."
            proof = (_proof(denies, "contradicts"),)
            return self._verdict(case, "contradicted", "paraphrase", explanation, proof, opposition, searched)
        best = says if confidence >= opposition else denies
        explanation = "The entailment model is not sure enough."
        return self._verdict(
            case,
            "unchecked",
            "low_confidence",
            explanation,
            (_proof(best, "closest"),),
            max(confidence, opposition),
            searched,
        )

    def _verdict(
        self,
        case: Case,
        label: VerdictLabel,
        reason: str,
        explanation: str,
        proofs: tuple[QuoteProof, ...],
        confidence: float | None = None,
        searched: str = "",
    ) -> Verdict:
        return Verdict(
            case.claim.id,
            label,
            reason,
            explanation,
            proofs,
            judge="entailment",
            model="@".join(filter(None, (self._model.name, self._model.revision))),
            thresholds=(
                ("entailment_threshold", self._calibration.threshold),
                ("temperature", self._calibration.temperature),
            ),
            confidence=confidence,
            searched=searched,
        )


def windows_of(evidence: Sequence[Evidence]) -> tuple[list[Window], int]:
    """Windows of one to three whole sentences, each once, and how many were left out.

    Sources given whole are read through their passages where there are any. Questions and aims state nothing.
    """
    passages = [e for e in evidence if e.chunk_id] or list(evidence)
    whole = {e.source.source_id for e in passages}
    passages += [e for e in evidence if not e.chunk_id and e.source.source_id not in whole]
    found: dict[tuple[str, Span], Window] = {}
    for one in passages:
        for section in one.source.sections:
            if not section.span.overlaps(one.span):
                continue
            sentences = [
                Span(section.span.start + s.start, section.span.start + s.end) for s in sentence_spans(section.text)
            ]
            inside = [s for s in sentences if s.overlaps(one.span) and states(one, s)]
            for length in range(1, WINDOW_SENTENCES + 1):
                for first in range(len(inside) - length + 1):
                    span = Span(inside[first].start, inside[first + length - 1].end)
                    found.setdefault((one.source.source_id, span), Window(one, span, length))
    windows = list(found.values())
    return windows[:MAX_WINDOWS], max(0, len(windows) - MAX_WINDOWS)


def _most_telling(windows: Sequence[Window], shares: npt.NDArray[np.float64], threshold: float) -> int:
    """The surest of the shortest windows that reach the threshold; without any, the surest of all.

    A quotation should hold the sentence that says it and none beside it.
    """
    reaching = [at for at in range(len(windows)) if shares[at] >= threshold]
    if not reaching:
        return int(shares.argmax())
    return min(reaching, key=lambda at: (windows[at].sentences, -shares[at], at))


def _proof(window: Window, shows: Any) -> QuoteProof:
    return quote_proof(window.evidence, window.span, shows)
