"""Which port a server takes, and what is said when it cannot."""

from __future__ import annotations

import socket

import pytest

from medcite.serving import address_of, listen, listen_near
from medcite_core.errors import InvalidSettings, PortInUse


@pytest.fixture
def taken():
    """A port of loopback on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


def test_exactly_the_port_asked_for_is_taken(taken: int) -> None:
    with pytest.raises(PortInUse, match=str(taken)):
        listen("127.0.0.1", taken)


def test_near_a_taken_port_the_next_free_one_is_used(taken: int) -> None:
    with listen_near("127.0.0.1", taken) as sock:
        port = sock.getsockname()[1]
    assert port != taken
    assert taken < port <= taken + 20 or port > 1024


def test_a_free_port_is_used_as_it_is() -> None:
    with listen("127.0.0.1", 0) as probe:
        free = probe.getsockname()[1]
    with listen_near("127.0.0.1", free) as sock:
        assert sock.getsockname()[1] == free


def test_port_0_takes_any_free_one_and_its_address_can_be_opened() -> None:
    with listen("127.0.0.1", 0) as sock:
        host, port = sock.getsockname()
        assert port > 0
        assert address_of(sock) == f"http://{host}:{port}/"
        socket.create_connection((host, port), timeout=5).close()


def test_a_server_on_all_addresses_is_shown_by_one_that_can_be_opened() -> None:
    with listen("0.0.0.0", 0) as sock:
        assert address_of(sock).startswith("http://127.0.0.1:")


@pytest.mark.parametrize("host", ["not an address", "203.0.113.1"])
def test_a_host_that_is_not_this_machine_is_a_clear_error(host: str) -> None:
    with pytest.raises(InvalidSettings, match=host):
        listen(host, 0)
