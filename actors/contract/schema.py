"""The one JSON schema that doors publish: flat, because agents' providers take no union at the top."""

from collections.abc import Iterable
from typing import Any, Final

from showcaller.actors.contract.actions import ACTIONS, Action

_MERGED_LOW: Final = ("minimum",)
_MERGED_HIGH: Final = ("maximum", "maxLength", "maxItems")
_SAID_ELSEWHERE: Final = frozenset({"title", "default", "description"})
# Empty counts as absent, and some agents send every field: no client may refuse them for it.
_CHECKED_ON_ARRIVAL: Final = frozenset({"minLength", "minItems", "required", "additionalProperties"})
_LEFT_OUT: Final = _SAID_ELSEWHERE | _CHECKED_ON_ARRIVAL

_Schema = dict[str, Any]


def tool_schema(rows: Iterable[Action] = ACTIONS.values()) -> dict[str, Any]:
    """Make the schema of a call from the models of the actions.

    ``action`` alone is required; the description of every other argument says which actions take it. Where
    actions differ in an argument's range, the widest is published, and the call is checked on arrival.

    Args:
        rows: the actions to publish; all of them when left out.

    """
    schemas = {row.name: row.model.model_json_schema() for row in rows}
    lines = [f"{name}: {schema['description'].splitlines()[0]}" for name, schema in schemas.items()]
    properties: _Schema = {
        "action": {"type": "string", "enum": list(schemas), "description": "\n".join(lines)}
    }
    for argument in dict.fromkeys(name for schema in schemas.values() for name in schema["properties"]):
        if argument != "action":
            takers = {name: schema for name, schema in schemas.items() if argument in schema["properties"]}
            properties[argument] = _merged(argument, takers)
    return {"type": "object", "properties": properties, "required": ["action"]}


def _merged(argument: str, takers: dict[str, _Schema]) -> _Schema:
    forms = [_form(schema["properties"][argument], schema.get("$defs", {})) for schema in takers.values()]
    merged = {**forms[0]}
    for form in forms[1:]:
        merged |= {key: min(form[key], merged[key]) for key in _MERGED_LOW if key in form and key in merged}
        merged |= {key: max(form[key], merged[key]) for key in _MERGED_HIGH if key in form and key in merged}
    merged["description"] = _description(argument, takers)
    return merged


def _form(published: _Schema, named: dict[str, _Schema]) -> _Schema:
    """Give the form of a value that is not absent: an argument that may be null is simply left out."""
    form = {key: value for key, value in published.items() if key not in _LEFT_OUT}
    for option in form.pop("anyOf", []):
        if option != {"type": "null"}:
            form |= {key: value for key, value in option.items() if key not in _LEFT_OUT}
    if "$ref" in form:
        form = _form(named[form["$ref"].rpartition("/")[2]], named)
    if "properties" in form:
        form["properties"] = {
            name: {**_form(part, named), "description": part["description"]}
            for name, part in form["properties"].items()
        }
    return form


def _description(argument: str, takers: dict[str, _Schema]) -> str:
    said: dict[str, list[str]] = {}
    for name, schema in takers.items():
        said.setdefault(_sentence(argument, schema), []).append(name)
    return "\n".join(f"{', '.join(names)}: {sentence}" for sentence, names in said.items())


def _sentence(argument: str, schema: _Schema) -> str:
    published = schema["properties"][argument]
    description: str = published["description"]
    if argument in schema.get("required", []):
        return f"{description} Required."
    default = published.get("default")
    return description if default is None else f"{description} Default: {str(default).lower()}."
