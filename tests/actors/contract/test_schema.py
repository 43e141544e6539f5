import json

from showcaller.actors.contract.actions import available_actions
from showcaller.actors.contract.schema import tool_schema


def test_the_schema_is_one_flat_object_that_requires_only_the_action() -> None:
    schema = tool_schema()
    assert set(schema) == {"type", "properties", "required"}
    assert schema["type"] == "object"
    assert schema["required"] == ["action"]
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & {
        key for part in schema["properties"].values() for key in part
    }
    json.dumps(schema, allow_nan=False)


def test_every_argument_of_every_built_action_is_in_it_and_nothing_else() -> None:
    rows = available_actions()
    properties = tool_schema()["properties"]
    assert properties["action"]["enum"] == [row.name for row in rows]
    assert set(properties) == {name for row in rows if row.model for name in row.model.model_fields}
    assert all(part["type"] in {"string", "integer", "boolean"} for part in properties.values())


def test_an_argument_says_which_actions_take_it_and_its_range() -> None:
    properties = tool_schema()["properties"]
    assert properties["limit"]["minimum"] == 1
    assert properties["limit"]["maximum"] == 100
    assert properties["limit"]["description"] == "list_sessions: How many to list. Default: 20."
    assert properties["text"]["maxLength"] == 100_000
    assert properties["scope"]["enum"] == ["active", "recent", "all"]
    assert properties["session"]["description"].startswith(
        "read_session, send: The session's id. Required.\nwait: "
    )
