"""Builds a working medcite from settings: embedder, index, chat model, services. Nothing else in the project does."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medcite_core.settings import EmbeddingSettings, IndexSettings, Settings, env_name

if TYPE_CHECKING:
    from medcite_core.embedding.background import BackgroundEmbedder
    from medcite_core.ports import CorpusIndex
    from medcite_middleware.services import Services
    from medcite_middleware.services.verifying import VerifyService

_POLL_S = 0.05

Progress = Callable[..., None]


@dataclass(frozen=True)
class Corpus:
    """An index and the embedder that fits it. Example questions and the worked example stand on the start page."""

    name: str
    settings: Settings
    index: CorpusIndex
    embedder: BackgroundEmbedder
    example_questions: Sequence[dict[str, Any]] = ()
    worked_example: dict[str, Any] | None = None


def open_corpus(settings: Settings, *, create: bool) -> Corpus:
    """The corpus in the data folder.

    Raises:
        IndexMissing: there is none, and `create` is false.
        IndexMismatch: it was built with another model or other sizes.
        InvalidSettings: the embedding settings do not say enough.
    """
    from medcite_core.embedding.factory import build_embedder
    from medcite_core.index.factory import open_index

    embedder = build_embedder(settings.embedding)
    index = open_index(settings, embedder.identity, create=create)
    return Corpus(f"Corpus in {settings.data_dir.resolve().name}", settings, index, embedder)


def demo_settings(settings: Settings) -> Settings:
    """Settings for the demo: its own folder, and the model and sizes its shipped vectors were made with."""
    return settings.model_copy(
        update={
            "data_dir": settings.data_dir / "demo",
            "embedding": EmbeddingSettings(device=settings.embedding.device),
            "index": IndexSettings(backend=settings.index.backend),
            "opensearch": settings.opensearch.model_copy(update={"index": f"{settings.opensearch.index}-demo"}),
        }
    )


def demo_differences(settings: Settings) -> list[str]:
    """Variables that are set but do not touch the demo, whose vectors are shipped."""
    demo = demo_settings(settings)
    changed = []
    for part in ("embedding", "index"):
        mine, its = getattr(settings, part), getattr(demo, part)
        changed += [
            env_name(f"{part}.{name}") for name in type(mine).model_fields if getattr(mine, name) != getattr(its, name)
        ]
    return changed


def open_demo(settings: Settings, on_progress: Progress) -> Corpus:
    """The demo corpus, loaded from the package the first time; later starts find it done.

    A stamp beside the index says which demo files it holds. It is written last, so a load that was cut is repeated;
    what is stored already is recognised.
    """
    from medcite_ingestion.demo import CORPUS_NAME, demo_questions, load_demo, worked_example

    demo = demo_settings(settings)
    corpus = open_corpus(demo, create=True)
    stamp = demo.data_dir / "loaded.json"
    wanted = {"demo_sha256": _demo_hash()}
    if not _holds(stamp, wanted) or corpus.index.count() == 0:
        # Should the shipped vectors not fit, the embedder makes new ones: slower, never wrong.
        load_demo(corpus.index, demo.index, on_progress, embedder=corpus.embedder)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(json.dumps(wanted), encoding="utf-8")
    example = worked_example()
    shown = {**example, "text": example["answer"], "sources": example["pmids"]}
    return Corpus(CORPUS_NAME, demo, corpus.index, corpus.embedder, demo_questions(), shown)


def services_of(corpus: Corpus) -> Services:
    """The services of a corpus, with the chat model that the settings name.

    Raises:
        InvalidSettings: the chat model's settings do not say enough.
    """
    from medcite_middleware.llm.chat_model import build_chat_model
    from medcite_middleware.services import build_services

    return build_services(
        corpus.settings,
        corpus.index,
        corpus.embedder,
        build_chat_model(corpus.settings.llm),
        corpus_name=corpus.name,
        example_questions=corpus.example_questions,
        worked_example=corpus.worked_example,
    )


def verifier_of(settings: Settings, corpus: Corpus | None) -> VerifyService:
    """The service that checks claims: over a corpus, or without one over documents only."""
    from medcite_core.embedding.factory import build_embedder
    from medcite_middleware.llm.chat_model import build_chat_model
    from medcite_middleware.services import build_verifier

    if corpus is not None:
        return services_of(corpus).verify
    if settings.llm.provider == "none" and not settings.verify.entailment_model:
        return build_verifier(settings, None)  # rules alone read whole sources; nothing is embedded
    embedder = build_embedder(settings.embedding)
    wait_for_embedder(embedder)
    return build_verifier(settings, embedder, build_chat_model(settings.llm))


def wait_for_embedder(embedder: BackgroundEmbedder) -> str:
    """Load the model and wait for it; the problem in one line if that fails (search by words still works)."""
    embedder.start()
    while embedder.state == "loading":
        time.sleep(_POLL_S)
    return embedder.problem


def _demo_hash() -> str:
    from medcite_ingestion.demo import DEMO_DIR

    digest = hashlib.sha256()
    for path in sorted(Path(DEMO_DIR).iterdir()):
        if path.is_file() and path.suffix != ".py":
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _holds(stamp: Path, wanted: dict[str, str]) -> bool:
    try:
        return bool(json.loads(stamp.read_text(encoding="utf-8")) == wanted)
    except (OSError, ValueError):
        return False
