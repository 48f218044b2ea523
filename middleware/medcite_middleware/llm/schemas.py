"""JSON schemas in the reduced form that every server of structured output takes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_KEPT = frozenset({"type", "enum", "description"})


def reduced_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of `shape` with types, enums, properties and items alone, references written out.

    Servers refuse `minItems`, `pattern`, `format`, `minimum` and others (FR-146); those are checked here, by `shape`
    itself, when the reply has come. All properties are required and no others allowed, as strict servers ask.
    """
    whole = shape.model_json_schema()
    return _reduced(whole, whole.get("$defs", {}))


def _reduced(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _reduced(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:  # a value that may be missing: servers are asked for it always
        return _reduced(next(one for one in schema["anyOf"] if one.get("type") != "null"), definitions)
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in schema:
        kept["properties"] = {name: _reduced(one, definitions) for name, one in schema["properties"].items()}
        kept["required"] = list(schema["properties"])
        kept["additionalProperties"] = False
    if "items" in schema:
        kept["items"] = _reduced(schema["items"], definitions)
    return kept
