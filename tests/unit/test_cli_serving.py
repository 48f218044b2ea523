"""Replies of the service leave at once."""

from __future__ import annotations

import asyncio
import socket

from medcite.serving import listen


def test_a_small_reply_is_not_held_back() -> None:
    async def accepted_without_delay() -> bool:
        seen: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            seen.set_result(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            writer.close()

        listener = listen("127.0.0.1", 0)
        async with await asyncio.start_server(on_connection, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            try:
                return await asyncio.wait_for(seen, 5)
            finally:
                writer.close()

    assert asyncio.run(accepted_without_delay())
