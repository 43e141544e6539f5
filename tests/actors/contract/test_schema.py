import json

from showcaller.actors.contract.actions import ACTIONS, available_actions
from showcaller.actors.contract.events import EVENTS
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


def test_every_argument_of_every_action_is_in_it_with_a_description_and_nothing_else() -> None:
    properties = tool_schema()["properties"]
    assert properties["action"]["enum"] == list(ACTIONS)
    assert set(properties) == {"action"} | {name for row in ACTIONS.values() for name in row.arguments}
    for name, part in properties.items():
        assert part["type"] in {"string", "integer", "boolean", "array", "object"}
        takers = [row.name for row in ACTIONS.values() if name in row.arguments]
        lines = part["description"].splitlines()
        said = [action for line in lines for action in line.partition(": ")[0].split(", ")]
        assert name == "action" or sorted(said) == sorted(takers)
        assert all(line.partition(": ")[2] for line in lines)


def test_an_argument_has_one_type_in_all_actions() -> None:
    whole = tool_schema()["properties"]
    for row in ACTIONS.values():
        for name, part in tool_schema([row])["properties"].items():
            assert part["type"] == whole[name]["type"]


def test_arrays_and_objects_say_what_is_in_them() -> None:
    properties = tool_schema()["properties"]
    assert properties["sessions"]["items"] == {"type": "string"}
    assert properties["events"]["items"]["enum"] == list(EVENTS)
    assert properties["quiet_hours"]["type"] == "object"
    assert list(properties["quiet_hours"]["properties"]) == ["from", "to", "tz"]


def test_no_client_is_given_a_reason_to_refuse_an_empty_field() -> None:
    text = json.dumps(tool_schema()["properties"])
    assert not [
        word for word in ("minLength", "minItems", "additionalProperties", "required") if word in text
    ]


def test_a_door_can_publish_only_what_is_carried_out() -> None:
    properties = tool_schema(available_actions())["properties"]
    assert properties["action"]["enum"] == [row.name for row in available_actions()]
    assert "rrule" not in properties


def test_an_argument_says_which_actions_take_it_and_its_range() -> None:
    properties = tool_schema()["properties"]
    assert properties["limit"]["minimum"] == 1
    assert properties["limit"]["maximum"] == 100
    assert properties["limit"]["description"] == "list_sessions: How many to list. Default: 20."
    assert properties["text"]["maxLength"] == 100_000
    assert properties["scope"]["enum"] == ["active", "recent", "all"]
    assert properties["session"]["description"].startswith(
        "read_session, read_task_output, send, update_session, stop, archive: "
        "The session's id. Required.\nwait: "
    )
