"""The document of the HTTP door is made of its paths and their models."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from showcaller.actors.contract.views import ResultModel
from showcaller.transport.doors.http.call_answers import CALL_ANSWERS
from showcaller.transport.doors.http.fanout_routes import FanoutList, StartBody
from showcaller.transport.doors.http.openapi import openapi_document
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.status_answer import StatusAnswer, WorkerTold


async def endpoint(request: Any) -> Any:
    """Stand in for one."""


class Row(ResultModel):
    """A row."""

    so_many: int
    note: str | None = None


DOCUMENT = openapi_document(
    [
        Path("GET", "/rows/{row}", endpoint, Operation("Give it.", gives=Row, path={"row": TEXT})),
        Path(
            "POST",
            "/rows",
            endpoint,
            Operation("Begin.", takes=StartBody, gives=(Row, FanoutList), once=True),
        ),
        Path("GET", "/status", endpoint, Operation("Tell.", gives=StatusAnswer)),
    ],
    "1.2.3",
)


def test_a_path_stands_there_with_its_parameters_its_body_and_every_status() -> None:
    get = DOCUMENT["paths"]["/rows/{row}"]["get"]
    assert [(one["name"], one["in"], one["required"]) for one in get["parameters"]] == [("row", "path", True)]
    assert {"200", "400", "401", "403", "404"} <= get["responses"].keys()
    assert "500" not in get["responses"]
    post = DOCUMENT["paths"]["/rows"]["post"]
    assert [one["name"] for one in post["parameters"]] == ["Idempotency-Key"]
    assert post["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/StartBody"
    }
    assert len(post["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]) == 2


def test_an_answer_to_a_call_may_carry_messages_for_an_external_conversation() -> None:
    path = Path("POST", "/api/call", endpoint, Operation("Call.", gives=CALL_ANSWERS))
    document = openapi_document([path], "1.2.3")
    given = {"id": "msg_1", "at": "2026-11-30T09:00:00.000Z", "origin": "owner", "text": "one"}
    refused = {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "There is none.", "messages": [given]}
    in_refusals = Draft202012Validator({"$ref": "#/components/schemas/Refused", **document})
    in_refusals.validate(refused)
    assert not in_refusals.is_valid(refused | {"messages": [{"text": "one"}]})
    answers = document["paths"]["/api/call"]["post"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    listed = {"ok": True, "relay": "x", "summary": "x", "sessions": []}
    stopped = {"ok": True, "relay": "x", "summary": "x", "session": "ses_1", "stopRequested": True}
    for result in (listed, stopped):
        validator = Draft202012Validator({**answers, **document})
        validator.validate(result)
        validator.validate(result | {"messages": [given]})
        assert not validator.is_valid(result | {"messages": ["one"]})


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Row(so_many=1), "Row"),
        (Row(so_many=1, note="x"), "Row"),
        (WorkerTold(name="w", pid=None, version=""), "WorkerTold"),
    ],
)
def test_what_is_written_fits_its_schema(model: ResultModel, name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", **DOCUMENT}
    Draft202012Validator(schema).validate(model.model_dump(mode="json", by_alias=True))
    assert not Draft202012Validator(schema).is_valid({"soMany": "1"})
