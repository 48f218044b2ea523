"""Serves an application on a socket until the process is told to stop, and then stops without waiting for answers."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

SHUTDOWN_S = 5


class Server(uvicorn.Server):
    """A server that cancels its runs when it goes down: their streams would otherwise hold it up."""

    def __init__(self, app: FastAPI, on_started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_S,
            )
        )
        # Addresses can hold what people ask: Guard writes an access log without them. uvicorn writes its own to any
        # handler that is attached to this logger, whatever `access_log` says.
        logging.getLogger("uvicorn.access").disabled = True
        self._services = app.state.services
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then tell."""
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel all runs, so that their streams end; then close."""
        await self._services.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, sock: socket.socket, on_started: Callable[[], None] = lambda: None) -> None:
    """Serve `app` on the listening socket `sock` until SIGINT or SIGTERM; `on_started` is called when it answers."""
    with sock:
        Server(app, on_started).run(sockets=[sock])
