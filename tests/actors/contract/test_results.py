import pytest
from pydantic import ValidationError

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.field_names import KEPT, result_name
from showcaller.actors.contract.results import CreateSessionResult, ListSessionsResult, PromptResult, Reply
from showcaller.actors.contract.views import SessionRow


def test_fields_that_are_passed_back_keep_their_names_and_others_become_camel_case() -> None:
    names = ("message_id", "question_id", "schedule_id", "subscription_id", "task_id")
    assert tuple(map(result_name, names)) == names
    assert result_name("last_words_ask") == "lastWordsAsk"
    assert result_name("state") == "state"


@pytest.mark.parametrize("action", ACTIONS)
def test_every_field_of_every_result_is_camel_case_or_passed_back(action: str) -> None:
    schema = ACTIONS[action].result.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    names = {name for part in parts for name in part.get("properties", {})}
    assert {"ok", "relay", "summary"} <= schema["properties"].keys()
    assert [name for name in names - KEPT if "_" in name or not name[0].islower()] == []


@pytest.mark.parametrize("action", ACTIONS)
def test_an_argument_that_a_result_holds_keeps_its_name(action: str) -> None:
    row = ACTIONS[action]
    ids = {name for name in row.arguments if name.endswith("_id")}
    assert ids <= KEPT
    assert {"message_id", "question_id", "schedule_id", "subscription_id", "task_id"} == KEPT


def row() -> SessionRow:
    return SessionRow(
        id="ses_3f9c2a1e7b0d",
        title="Count",
        provider="command",
        state="idle",
        last_turn="done",
        last_activity_at=1_793_584_800_000,
        message_count=2,
        created_by="owner",
    )


def test_a_list_of_sessions_is_written_with_states_and_times_and_without_what_is_absent() -> None:
    result = ListSessionsResult(
        relay="desk", summary="list_sessions: 1 session", sessions=(row(),)
    ).to_result()
    assert result == {
        "ok": True,
        "relay": "desk",
        "summary": "list_sessions: 1 session",
        "sessions": [
            {
                "id": "ses_3f9c2a1e7b0d",
                "title": "Count",
                "provider": "command",
                "state": "idle",
                "queued": 0,
                "lastTurn": "done",
                "process": "none",
                "lastWordsAsk": False,
                "lastActivityAt": "2026-11-02T02:00:00.000Z",
                "messageCount": 2,
                "tasks": [],
                "createdBy": "owner",
                "startedByYou": False,
            }
        ],
    }


def test_a_reply_carries_its_own_message_id_beside_that_of_the_prompt() -> None:
    result = PromptResult(
        relay="desk",
        summary="send",
        session="ses_3f9c2a1e7b0d",
        message_id="msg_000000000000",
        status="done",
        stop_reason="end",
        reply=Reply(text="4", own_message_id="msg_000000000001"),
        note="A note.",
        ignored=("title",),
    ).to_result()
    assert result["message_id"] == "msg_000000000000"
    assert result["reply"] == {"text": "4", "messageId": "msg_000000000001", "truncated": False}
    assert result["stopReason"] == "end"
    assert result["note"] == "A note."
    assert result["ignored"] == ["title"]


def test_a_created_session_says_null_when_it_is_in_no_group() -> None:
    result = CreateSessionResult(
        relay="desk",
        summary="create_session",
        session="ses_3f9c2a1e7b0d",
        message_id="msg_000000000000",
        status="queued",
        provider="command",
        model_source="default",
        mode="agent",
        title="Count",
    ).to_result()
    assert result["group"] is None
    assert "model" not in result
    assert result["modelSource"] == "default"


def test_a_reply_longer_than_the_contract_allows_is_a_fault_and_not_cut_silently() -> None:
    with pytest.raises(ValidationError):
        Reply(text="a" * 8001, own_message_id="msg_000000000001")


def test_a_state_that_is_not_in_the_contract_cannot_be_reported() -> None:
    with pytest.raises(ValidationError):
        SessionRow.model_validate({**row().model_dump(), "state": "working"})
