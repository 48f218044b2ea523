"""Running services that several files of this folder ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.live_service import ASPIRIN_ANSWER, LiveService, small_service
from support.llm_server import LLMServer, Reply


@pytest.fixture(scope="module")
def quoting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service without a chat model."""
    with small_service(tmp_path_factory.mktemp("quoting"), server__run_grace_s=5.0) as live:
        yield live


@pytest.fixture
def generating(tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveService]:
    """A service with the scripted chat server."""
    llm_server.default = Reply(pieces=ASPIRIN_ANSWER)
    with small_service(
        tmp_path,
        llm_server.base_url,
        server__heartbeat_s=0.1,
        server__run_grace_s=2.0,
        llm__timeout_s=1.5,
        llm__retries=0,
    ) as live:
        yield live
