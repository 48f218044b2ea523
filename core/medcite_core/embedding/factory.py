"""Chooses the embedder that the settings name."""

from __future__ import annotations

from medcite_core.embedding.background import BackgroundEmbedder, Encoder
from medcite_core.embedding.models import ModelCard, model_card
from medcite_core.ports import EmbedderIdentity
from medcite_core.settings import EmbeddingSettings

_ENDPOINT_RETRY_S = 30.0


def build_embedder(settings: EmbeddingSettings) -> BackgroundEmbedder:
    """The embedder of `settings`, at once: its model loads at the first use, or in the background after `.start()`.

    Raises:
        InvalidSettings: the settings do not say enough about the model, or contradict it.
    """
    card = model_card(settings)

    def load() -> Encoder:
        return _load(card, settings)

    retry = _ENDPOINT_RETRY_S if settings.provider == "openai" else None
    return BackgroundEmbedder(card.identity, load, retry_every_s=retry)


def known_identity(settings: EmbeddingSettings) -> EmbedderIdentity:
    """What vectors of this model must agree on, without loading it; `dimension` is 0 where only the model can tell.

    Raises:
        InvalidSettings: as `build_embedder`.
    """
    return model_card(settings).identity


def _load(card: ModelCard, settings: EmbeddingSettings) -> Encoder:
    if settings.provider == "openai":
        from medcite_core.embedding.openai_compatible import EndpointEncoder

        return EndpointEncoder(card, settings)
    from medcite_core.embedding.angle import AngleEncoder

    return AngleEncoder(card, device=settings.device, batch_size=settings.batch_size, precision=settings.precision)
