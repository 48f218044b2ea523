"""A real process that serves medcite: it tells when it answers, and stops at once while answers are still going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from support.llm_server import LLMServer, Reply
from support.sse_reader import read_all

PROGRAM = """
import socket, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.live_service import small_services
from medcite_middleware.api.app import create_app
from medcite_middleware.api.serve import serve
services, settings = small_services(Path(sys.argv[2]), sys.argv[3], llm__timeout_s=60.0)
sock = socket.create_server(("127.0.0.1", 0))
serve(create_app(services, settings.server, None), sock, lambda: print(sock.getsockname()[1], flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("signal_sent", [signal.SIGTERM, signal.SIGINT])
def test_a_service_told_to_stop_cancels_its_answers_and_ends_soon(
    tmp_path: Path, llm_server: LLMServer, signal_sent: signal.Signals
) -> None:
    llm_server.default = Reply(pieces=("Aspirin ",), hang=True)
    tests = str(Path(__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, tests, str(tmp_path), llm_server.base_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        url = f"http://127.0.0.1:{port}/api/ask"
        body = {"question": "Does aspirin lower recurrent stroke?"}
        with httpx.stream("POST", url, json=body, timeout=30) as response:
            assert llm_server.piece_sent.wait(20)
            started = time.monotonic()
            process.send_signal(signal_sent)
            messages = read_all(response.iter_bytes())
        assert time.monotonic() - started < 3
        assert messages[-1].event == "cancelled"
        assert llm_server.client_left.wait(5)
        process.wait(20)
    finally:
        process.kill()
        process.communicate()
