"""A JSON schema in a few words, for tables."""

import re
from collections.abc import Mapping
from typing import Any

_PLAIN = {"string": "text", "boolean": "true or false", "number": "number", "integer": "whole number"}
NOTHING: Mapping[str, Any] = {}


def flat(text: str) -> str:
    """Give a text as one line of a table, with code marked as in Markdown."""
    one_line = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"``(.+?)``", r"`\1`", one_line)


def takes(schema: Mapping[str, Any], named: Mapping[str, Any] = NOTHING) -> str:
    """Say which values fit, null aside; what is not in ``named`` links to a section of its own name."""
    if "anyOf" in schema:
        options = [takes(option, named) for option in schema["anyOf"] if option != {"type": "null"}]
        return " or ".join(dict.fromkeys(options))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return takes(named[name], named) if name in named else f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{_literal(schema['const'])}`"
    if "enum" in schema:
        return " · ".join(f"`{_literal(value)}`" for value in schema["enum"])
    return _by_type(schema, named)


def _by_type(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if kind == "array":
        most = f", at most {schema['maxItems']:,}" if "maxItems" in schema else ""
        return f"list of {takes(schema.get('items', {}), named)}{most}"
    if kind == "object" and "properties" in schema:
        return f"object of {', '.join(f'`{name}`' for name in schema['properties'])}"
    if kind == "object":
        return "object"
    if kind in {"integer", "number"} and "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}"
    if kind == "string" and "maxLength" in schema:
        return f"text, at most {schema['maxLength']:,}"
    return _PLAIN.get(str(kind), "anything")


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
