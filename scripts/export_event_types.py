"""Write the JSON schema of the service's events to frontend/events.schema.json, from which the page's types are made,
and that of verification reports to docs/schemas/verification-1.json.

Run it after a change in medcite_middleware/events.py or export/verdicts/report.py, then `npm run types` in frontend/.
Tests compare all of these files.
"""

from __future__ import annotations

import json
from pathlib import Path

REPORT_SCHEMA_FILE = Path(__file__).resolve().parent.parent / "docs" / "schemas" / "verification-1.json"
SCHEMA_FILE = Path(__file__).resolve().parent.parent / "frontend" / "events.schema.json"


def event_schema() -> str:
    """The schema as it is committed: as the service writes events, so fields with a default are always there."""
    from medcite_middleware.events import EVENTS

    schema = _plain(EVENTS.json_schema(mode="serialization"))
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _plain(node: object, *, holds_names: bool = False) -> object:
    """Without titles, which would become one named type a field, and with every property required."""
    if isinstance(node, dict):
        plain = {
            key: _plain(value, holds_names=key in ("properties", "$defs"))
            for key, value in node.items()
            if holds_names or key not in ("title", "default")
        }
        if not holds_names and isinstance(plain.get("properties"), dict):
            plain["required"] = sorted(plain["properties"])
        return plain
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def report_schema() -> str:
    """The schema of a verification report, as it is committed."""
    from medcite_middleware.export.verdicts.report import VerificationReport

    schema = VerificationReport.model_json_schema(mode="serialization")
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    REPORT_SCHEMA_FILE.parent.mkdir(parents=True, exist_ok=True)
    REPORT_SCHEMA_FILE.write_text(report_schema(), encoding="utf-8")
    SCHEMA_FILE.write_text(event_schema(), encoding="utf-8")
    print(f"{SCHEMA_FILE}: written; now run `npm run types` in frontend/")
