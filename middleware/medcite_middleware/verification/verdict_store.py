"""Keeps a chat model's verdicts by the content they were given for, so that the same question gets the same answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from medcite_core.answers import ComputationProof, Proof, QuoteProof, Verdict
from medcite_core.ports import Case
from medcite_core.settings import LLMSettings, VerifySettings

_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL)"
_BUSY_TIMEOUT_S = 10.0


class VerdictStore:
    """Verdicts in one SQLite file. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        """The file is made when the first verdict is put; its folder too."""
        self._path = path
        self._lock = threading.Lock()

    def get(self, key: str) -> Verdict | None:
        """The verdict kept under `key`; None if there is none that can be read."""
        if not self._path.exists():
            return None
        with self._lock, closing(self._connect()) as database:
            row = database.execute("SELECT verdict FROM verdicts WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        try:
            return _verdicts().validate_json(row[0])
        except ValidationError:  # written by another version of medcite: asked for anew
            return None

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep `verdict`, in the place of an earlier one."""
        with self._lock, closing(self._connect()) as database, database:
            database.execute(
                "INSERT INTO verdicts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET verdict = excluded.verdict",
                (key, _verdicts().dump_json(verdict).decode()),
            )

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)
        database.execute(_SCHEMA)
        return database


class VerdictMemory:
    """What one chat model said of cases, with one prompt and these settings."""

    def __init__(self, store: VerdictStore, llm: LLMSettings, verify: VerifySettings, prompt_version: str) -> None:
        self._store = store
        self._llm = llm
        self._verify = verify
        self._prompt_version = prompt_version

    def get(self, case: Case) -> Verdict | None:
        """What it said of the same claim over the same evidence, for the numbers of this case; None if it did not."""
        kept = self._store.get(self._key(case))
        return None if kept is None else replayed(kept, case)

    def put(self, case: Case, verdict: Verdict) -> None:
        """Keep what it says now."""
        self._store.put(self._key(case), verdict)

    def _key(self, case: Case) -> str:
        return verdict_key(case, self._llm, self._verify, self._prompt_version)


def verdict_key(case: Case, llm: LLMSettings, verify: VerifySettings, prompt_version: str) -> str:
    """SHA-256 of all that a chat model's verdict depends on: claim, evidence, question, model, prompt and settings.

    Not of where a claim stands or how its evidence is numbered for the reader.
    """
    content: dict[str, Any] = {
        "claim": case.claim.standalone,
        "question": case.question,
        "evidence": [
            (e.source.source_id, e.source.is_usable_as_support, e.source.title, e.span.start, e.text)
            for e in case.evidence
        ],
        "model": [llm.provider, llm.base_url, llm.model, llm.temperature, llm.max_tokens, llm.context_tokens],
        "method": [llm.structured_output, llm.structured_max_tokens],
        "prompt": prompt_version,
        "verify": [verify.quote_threshold, verify.max_revisions],
    }
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def replayed(verdict: Verdict, case: Case) -> Verdict:
    """A kept verdict for the claim of `case`, its proofs numbered as the evidence is now. It cost no calls."""

    def renumbered(quote: QuoteProof) -> QuoteProof:
        source_id = quote.pmid or quote.document
        held = (e.number for e in case.evidence if e.source.source_id == source_id and _overlap(e.span, quote.span))
        return replace(quote, evidence_number=next(held, None))

    def again(proof: Proof) -> Proof:
        if isinstance(proof, QuoteProof):
            return renumbered(proof)
        if isinstance(proof, ComputationProof):
            return replace(proof, operands=tuple(replace(o, quote=renumbered(o.quote)) for o in proof.operands))
        return proof

    return replace(verdict, claim_id=case.claim.id, proofs=tuple(again(p) for p in verdict.proofs), calls=0)


def what_changed(before: Verdict, after: Verdict) -> str:
    """What asking anew changed, in a sentence; empty when label and words shown are the same."""
    if before.label != after.label:
        return f"Asked anew: {after.label}, before {before.label}."
    if _shown(before) != _shown(after):
        return f"Asked anew: {after.label} as before, but other words are shown for it."
    return ""


def _shown(verdict: Verdict) -> set[str]:
    return {
        proof.text if isinstance(proof, QuoteProof) else proof.formula
        for proof in verdict.proofs
        if isinstance(proof, QuoteProof | ComputationProof)
    }


def _overlap(one: Any, other: Any) -> bool:
    return bool(one.start < other.end and other.start < one.end)


@cache
def _verdicts() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)
