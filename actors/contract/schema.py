"""The one JSON schema that doors publish: flat, because agents' providers take no union at the top."""

from typing import Any

from showcaller.actors.contract.actions import available_actions

_MERGED_LOW = ("minimum", "minLength")
_MERGED_HIGH = ("maximum", "maxLength")


def tool_schema() -> dict[str, Any]:
    """Make the schema of a call from the models of the actions that are built.

    ``action`` alone is required; the description of every other argument says which actions take it. Where
    actions differ in an argument's range, the widest is published, and the call is checked on arrival.
    """
    built = [
        (row.name, row.model.model_json_schema()) for row in available_actions() if row.model is not None
    ]
    names = [name for name, _ in built]
    lines = [f"{name}: {schema['description'].splitlines()[0]}" for name, schema in built]
    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": names, "description": "\n".join(lines)}
    }
    for argument in dict.fromkeys(
        each for _, schema in built for each in schema["properties"] if each != "action"
    ):
        takers = {name: schema for name, schema in built if argument in schema["properties"]}
        properties[argument] = _merged(argument, takers)
    return {"type": "object", "properties": properties, "required": ["action"]}


def _merged(argument: str, takers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    forms = [_form(schema["properties"][argument]) for schema in takers.values()]
    merged = {**forms[0]}
    for form in forms[1:]:
        merged |= {key: min(form[key], merged[key]) for key in _MERGED_LOW if key in form and key in merged}
        merged |= {key: max(form[key], merged[key]) for key in _MERGED_HIGH if key in form and key in merged}
    merged["description"] = _description(argument, takers)
    return merged


def _form(published: dict[str, Any]) -> dict[str, Any]:
    """Give the form of a value that is not absent: an argument that may be null is simply left out."""
    form = {key: value for key, value in published.items() if key not in {"title", "default", "description"}}
    for option in form.pop("anyOf", []):
        if option != {"type": "null"}:
            form |= option
    return form


def _description(argument: str, takers: dict[str, dict[str, Any]]) -> str:
    said: dict[str, list[str]] = {}
    for name, schema in takers.items():
        said.setdefault(_sentence(argument, schema), []).append(name)
    return "\n".join(f"{', '.join(names)}: {sentence}" for sentence, names in said.items())


def _sentence(argument: str, schema: dict[str, Any]) -> str:
    published = schema["properties"][argument]
    description: str = published["description"]
    if argument in schema.get("required", []):
        return f"{description} Required."
    default = published.get("default")
    return description if default is None else f"{description} Default: {str(default).lower()}."
