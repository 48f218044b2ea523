"""How events go over the wire, and that the reference reader the service is held against reads as the standard says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.sse_reader import read_all

from medcite_middleware.api.sse import HEARTBEAT, encode_event
from medcite_middleware.events import CancelledEvent, RunEvent, StageEvent, TextEvent

GOLDEN = Path(__file__).parent.parent / "golden" / "sse"


def test_fr_126_the_reference_reader_reads_split_characters_crlf_and_data_without_space() -> None:
    case = json.loads((GOLDEN / "FR-126-chunks.json").read_text(encoding="utf-8"))
    messages = read_all(bytes.fromhex(chunk) for chunk in case["chunks_hex"])
    assert "".join(message.data for message in messages) == case["expected"]


def test_fr_127_the_reference_reader_gives_the_same_events_wherever_the_stream_is_cut() -> None:
    raw = (GOLDEN / "FR-127-stream.txt").read_bytes()
    whole = read_all([raw])
    assert [m.data for m in whole][-1] == "[DONE]"
    assert len(whole) == 3
    for cut in range(len(raw) + 1):
        assert read_all([raw[:cut], raw[cut:]]) == whole


def _stream() -> tuple[bytes, list[TextEvent]]:
    tokens = json.loads((GOLDEN / "FR-128-tokens.json").read_text(encoding="utf-8"))["tokens"]
    tokens += ["β-blocker 5 µg → OK 🫀", "carriage\rreturn\r\nand\x0bvertical\x0c\x1c\x1d\x1e", "data: not a field\n\n"]
    events = [TextEvent(delta=token) for token in tokens]
    raw = b"".join(encode_event(n, event) for n, event in enumerate(events, start=1))
    return raw + HEARTBEAT + encode_event(99, CancelledEvent()), events


def test_fr_127_our_own_stream_gives_the_same_events_wherever_it_is_cut() -> None:
    raw, events = _stream()
    for cut in range(len(raw) + 1):
        messages = read_all([raw[:cut], raw[cut:]])
        assert [m.json["delta"] for m in messages[:-1]] == [event.delta for event in events]
        assert messages[-1].event == "cancelled"
    assert read_all(raw[i : i + 1] for i in range(len(raw))) == read_all([raw])


def test_fr_128_no_reader_that_splits_lines_the_unicode_way_can_break_an_event() -> None:
    raw, events = _stream()
    text = raw.decode("utf-8")
    assert text.splitlines() == text.split("\n")[:-1]
    deltas = [json.loads(line[6:])["delta"] for line in text.splitlines() if line.startswith('data: {"type":"text"')]
    assert deltas == [event.delta for event in events]
    assert "".join(deltas[:3]) == "First line\u2028second part\u0085third a\nb"


@pytest.mark.parametrize("event", [RunEvent(run_id="r"), StageEvent(name="search"), TextEvent(delta="x")])
def test_an_event_carries_its_number_its_type_and_one_line_of_json(event: RunEvent | StageEvent | TextEvent) -> None:
    lines = encode_event(7, event).decode().split("\n")
    assert lines[:2] == ["id: 7", f"event: {event.type}"]
    assert lines[2].startswith("data: {")
    assert lines[3:] == ["", ""]
    assert json.loads(lines[2][6:]) == event.model_dump()


def test_characters_outside_ascii_travel_as_they_are() -> None:
    assert "β→🫀".encode() in encode_event(1, TextEvent(delta="β→🫀"))
