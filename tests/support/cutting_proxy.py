"""A proxy on loopback that cuts the connection in the middle of a reply, as bad networks do."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

_READ_FIRST_S = 0.5
AFTER_HEAD = -1
_HEAD_END = b"\r\n\r\n"


class CuttingProxy:
    """Passes connections to `target_port`. A reply to a request that begins with `cut_request` is cut once, after
    `cut_after` bytes of it, or before its body with `AFTER_HEAD`; `requests` holds the first line of each request,
    with its Last-Event-ID if it has one."""

    def __init__(self, target_port: int, cut_request: bytes, cut_after: int) -> None:
        self.requests: list[str] = []
        self._target_port = target_port
        self._cut_request = cut_request
        self._cut_after = cut_after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._target_port))
        budget: list[int | None] = [None]
        back = threading.Thread(target=self._reply, args=(server, client, budget), daemon=True)
        back.start()
        with contextlib.suppress(OSError):
            while data := client.recv(65_536):
                self._note(data)
                if data.startswith(self._cut_request) and self._cut_after:
                    budget[0], self._cut_after = self._cut_after, 0
                server.sendall(data)
        self._close(client, server)

    def _reply(self, server: socket.socket, client: socket.socket, budget: list[int | None]) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(4_096):
                left = budget[0]
                if left == AFTER_HEAD and _HEAD_END in data:
                    left = data.index(_HEAD_END) + len(_HEAD_END)
                if left is not None and 0 <= left <= len(data):
                    client.sendall(data[:left])
                    # A reset throws away what the browser has not read yet; without the first event it cannot resume.
                    time.sleep(_READ_FIRST_S)
                    break
                client.sendall(data)
                if left is not None and left >= 0:
                    budget[0] = left - len(data)
        self._close(client, server)

    def _note(self, data: bytes) -> None:
        first, *headers = data.decode("latin-1").split("\r\n")
        if first.endswith("HTTP/1.1"):
            last_id = next((h.partition(":")[2].strip() for h in headers if h.lower().startswith("last-event-id:")), "")
            self.requests.append(f"{first.removesuffix(' HTTP/1.1')} {last_id}".strip())

    @staticmethod
    def _close(*sockets: socket.socket) -> None:
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def stop(self) -> None:
        """Take no more connections."""
        self._listener.close()


@contextlib.contextmanager
def cutting_proxy(base_url: str, cut_request: bytes, cut_after: int) -> Iterator[CuttingProxy]:
    """A proxy before the service at `base_url` until the block ends."""
    proxy = CuttingProxy(int(base_url.rpartition(":")[2]), cut_request, cut_after)
    try:
        yield proxy
    finally:
        proxy.stop()
