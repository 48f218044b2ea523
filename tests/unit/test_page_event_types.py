"""The page's types come from the service's events; frontend/tests/event-types.test.ts is the other half."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "export_event_types.py"


def test_the_committed_schema_is_the_one_the_service_has_now() -> None:
    spec = importlib.util.spec_from_file_location("export_event_types", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.SCHEMA_FILE.read_text(encoding="utf-8") == script.event_schema(), (
        "run `python scripts/export_event_types.py`, then `npm run types` in frontend/"
    )
