"""Finds the page and takes the port for a server."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

from medcite_core.errors import InvalidSettings, MedciteError, PortInUse

NEXT_PORTS = 20
"""How many ports after the wanted one are tried before any free one is taken."""


class PortRefused(MedciteError):
    """The system does not let this user listen on the port."""

    code = "port_refused"
    default_hint = "Choose a port above 1023 with --port."


def page_dir() -> Path | None:
    """The built page: inside the package of an installed wheel, in frontend/dist of a checkout, or nowhere."""
    package = Path(__file__).resolve().parent
    # An editable install may have a page from an earlier wheel build beside it; the checkout's own is the newer one.
    for candidate in (package.parent.parent / "frontend" / "dist", package / "page"):
        if (candidate / "index.html").is_file():
            return candidate
    return None


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on exactly this address and port; 0 takes any free port.

    Raises:
        PortInUse: another program listens there.
        PortRefused: the system does not allow it.
        InvalidSettings: the host is no address of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except socket.gaierror:
        raise InvalidSettings(
            f"{host!r} is not an address to listen on", "Use 127.0.0.1, or 0.0.0.0 for all."
        ) from None
    # The protocol by name: only then does asyncio send small replies at once, instead of 40 ms later.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # On Windows SO_REUSEADDR would let two programs share the port; elsewhere it lets a restart take it back.
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(128)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is taken by another program") from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise PortRefused(f"port {port} may not be used by this user") from None
        raise InvalidSettings(
            f"cannot listen on {host}:{port}: {error.strerror}", "Use 127.0.0.1, or 0.0.0.0 for all addresses."
        ) from None
    return sock


def listen_near(host: str, port: int) -> socket.socket:
    """As `listen`, but on the next free port when the wanted one is taken. Raises as `listen`, except `PortInUse`."""
    for candidate in range(port, min(port + NEXT_PORTS, 65535) + 1 if port else 1):
        try:
            return listen(host, candidate)
        except PortInUse:
            continue
    return listen(host, 0)


def address_of(sock: socket.socket) -> str:
    """The address to open in a browser on this machine."""
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
