"""Approval cards: shown in a running turn, bound to calls, and what their *Allow* goes on covering."""

import json
from typing import Any

import pytest

from tests.store.desk import Desk, ending, message_of, session_of

ALLOW = {"choices": ["allow"], "text": None}
DENY = {"choices": ["deny"], "text": None}
OPTIONS = json.dumps([{"id": "allow", "label": "Allow", "kind": "allow_once"}])


def calls(*names: str) -> str:
    return json.dumps([{"client_id": name, "fingerprint": "f", "detail": name} for name in names])


def approval_of(name: str, *stands: str, restarts_count: bool = False, **more: Any) -> dict[str, Any]:
    """Make an approval card called ``name`` of the turn ``msg_first``."""
    return {
        "id": f"q_{name}",
        "session": "ses_a",
        "message": "msg_first",
        "question": "This agent wants to start sessions.",
        "expires_at": 9_000,
        "options": OPTIONS,
        "call": calls("one"),
        "grants": json.dumps({"stands": stands, "restarts_count": restarts_count}),
        "detail": "one",
        **more,
    }


def standing(desk: Desk, conversation: str = "ses_a") -> list[str]:
    found: list[str] = desk.read("standing_approvals", conversation=conversation)
    return found


def unasked(desk: Desk, session: str = "ses_a") -> int:
    count: int = desk.read("load_session", session=session)["prompts_unasked"]
    return count


@pytest.fixture(autouse=True)
def turn(desk: Desk) -> None:
    """Have a turn that runs."""
    desk.handed("a", "first")


def prompt(desk: Desk, name: str, to: str = "ses_b", caller: str | None = "ses_a", **more: Any) -> Any:
    """Have the agent of ``ses_a`` send a prompt to another session, or the owner without ``caller``."""
    origin = "owner" if caller is None else "agent"
    message = message_of(name, session=to, origin=origin, caller=caller)
    return desk.one("accept_message", message=message, **more)


# -- cards -----------------------------------------------------------------------------------------


def test_a_card_is_shown_and_its_event_says_nothing_of_what_is_asked(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    row = desk.read("card", card="q_start")
    assert (row["kind"], row["status"], row["message"]) == ("approval", "pending", "msg_first")
    assert row["call"] == [{"client_id": "one", "fingerprint": "f", "detail": "one"}]
    assert row["grants"] == {"stands": ["create"], "restarts_count": False}
    events = desk.rows("SELECT kind, message, text FROM event WHERE kind LIKE 'question%'")
    assert events == [("question_asked", "msg_first", "")]
    loaded = desk.read("load_session", session="ses_a")
    assert (loaded["waits_on"], [card["id"] for card in loaded["cards"]]) == (["approval"], ["q_start"])


def test_a_turn_that_does_not_run_shows_no_card(desk: Desk) -> None:
    card = approval_of("start", message="msg_other")
    assert desk.conflict("open_approval", card=card, at=2_500) == "not_running"
    desk.value("end_turn", **ending("first"))
    assert desk.conflict("open_approval", card=approval_of("start"), at=3_500) == "not_running"
    assert desk.rows("SELECT count(*) FROM card") == [(0,)]


def test_a_conversation_that_no_relay_runs_shows_one_without_a_turn_until_it_is_archived(desk: Desk) -> None:
    desk.value("create_session", session=session_of("x", provider="external"), message=None)
    card = approval_of("start", "create", session="ses_x", message=None)
    desk.value("open_approval", card=card, at=2_500)
    assert desk.read("approvals_without_turn") == ["ses_x"]
    assert [found["id"] for found in desk.read("load_session", session="ses_x")["cards"]] == ["q_start"]
    desk.value("archive_session", session="ses_x", at=2_600)
    assert desk.read("card", card="q_start")["status"] == "withdrawn"
    assert desk.read("approvals_without_turn") == []
    again = approval_of("again", session="ses_x", message=None)
    assert desk.conflict("open_approval", card=again, at=2_700) == "archived"


def test_a_card_goes_with_the_end_of_its_turn(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    desk.value("end_turn", **ending("first"))
    assert desk.read("card", card="q_start")["status"] == "withdrawn"
    assert desk.conflict("end_approval", card="q_start", status="answered", answer=ALLOW, at=4_000) == "ended"
    assert standing(desk) == []


def test_a_card_that_waits_can_list_further_calls_and_one_that_has_its_end_cannot(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    desk.value("change_approval", card="q_start", call=calls("one", "two"), detail="one\ntwo")
    row = desk.read("card", card="q_start")
    assert ([call["client_id"] for call in row["call"]], row["detail"]) == (["one", "two"], "one\ntwo")
    desk.value("end_approval", card="q_start", status="answered", answer=ALLOW, via="owner", at=2_600)
    assert desk.conflict("change_approval", card="q_start", call=calls("three"), detail=None) == "ended"
    assert desk.conflict("change_approval", card="q_other", call=calls("three"), detail=None) == "missing"


# -- what Allow covers -----------------------------------------------------------------------------


def test_allow_has_stand_what_the_card_grants_and_belongs_to_its_conversation(desk: Desk) -> None:
    desk.handed("b", "second")
    desk.value("open_approval", card=approval_of("start", "create", "settings"), at=2_500)
    ended = desk.value("end_approval", card="q_start", status="answered", answer=ALLOW, via="owner", at=2_600)
    assert ended == {"card": "q_start", "status": "answered"}
    assert (standing(desk), standing(desk, "ses_b")) == (["create", "settings"], [])
    (first, _) = desk.read("approvals")["approvals"]
    assert first == {
        "conversation": "ses_a",
        "kind": "create",
        "created_at": 2_600,
        "title": "Session a",
    }


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        ("answered", DENY),
        ("answered", {"choices": [], "text": "allow"}),
        ("answered", {"choices": ["allow", "deny"], "text": None}),
        ("timed_out", None),
        ("withdrawn", None),
    ],
)
def test_only_allow_grants(desk: Desk, status: str, answer: dict[str, Any] | None) -> None:
    assert prompt(desk, "x", to="ses_a").error is None
    desk.value("open_approval", card=approval_of("start", "create", restarts_count=True), at=2_500)
    desk.value("end_approval", card="q_start", status=status, answer=answer, at=2_600)
    assert (standing(desk), unasked(desk)) == ([], 1)


def test_allow_again_changes_nothing_of_what_stands(desk: Desk) -> None:
    for at, name in enumerate(("one", "two")):
        desk.value("open_approval", card=approval_of(name, "create"), at=2_500 + at)
        desk.value("end_approval", card=f"q_{name}", status="answered", answer=ALLOW, at=2_600 + at)
    assert desk.rows("SELECT kind, card, created_at FROM approval") == [("create", "q_one", 2_600)]


def test_an_answer_repeated_under_its_name_grants_nothing_anew(desk: Desk) -> None:
    named = {"client_id": "a", "fingerprint": "f", "result": {"card": "q_start", "status": "answered"}}
    given = {"card": "q_start", "status": "answered", "answer": ALLOW, "call": named}
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    desk.value("end_approval", **given, at=2_600)
    assert desk.value("revoke_approvals", conversation="ses_a") == {"revoked": ["create"]}
    assert "duplicate_result" in desk.value("end_approval", **given, at=2_700)
    assert standing(desk) == []


def test_what_stands_is_revoked_by_its_kind_or_as_a_whole(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create", "settings"), at=2_500)
    desk.value("end_approval", card="q_start", status="answered", answer=ALLOW, at=2_600)
    assert desk.value("revoke_approvals", conversation="ses_a", kind="settings") == {"revoked": ["settings"]}
    assert standing(desk) == ["create"]
    assert desk.conflict("revoke_approvals", conversation="ses_a", kind="settings") == "missing"
    assert desk.value("revoke_approvals", conversation="ses_a") == {"revoked": ["create"]}
    assert desk.conflict("revoke_approvals", conversation="ses_a") == "missing"


def test_who_shuts_agents_out_takes_their_cards_and_what_was_allowed_with_it(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    desk.value("end_approval", card="q_start", status="answered", answer=ALLOW, at=2_600)
    desk.value("open_approval", card=approval_of("more"), at=2_700)
    desk.value("open_card", card=_own_card(), at=2_700)
    desk.value("set_setting", name="agent_sessions", value=True)
    assert standing(desk) == ["create"]
    desk.value("set_setting", name="agent_sessions", value=False, shut_out_at=2_800)
    assert standing(desk) == []
    assert desk.read("card", card="q_more")["status"] == "withdrawn"
    assert desk.read("card", card="q_own")["status"] == "pending"


def _own_card() -> dict[str, Any]:
    more = {"kind": "permission", "message": "msg_first", "question": "?", "worker_card": "1"}
    return {"id": "q_own", "session": "ses_a", "expires_at": 9_000, **more}


def test_a_deleted_conversation_leaves_nothing_of_it(desk: Desk) -> None:
    desk.value("open_approval", card=approval_of("start", "create"), at=2_500)
    desk.value("end_approval", card="q_start", status="answered", answer=ALLOW, at=2_600)
    desk.value("end_turn", **ending("first"))
    desk.value("delete_session", session="ses_a", at=4_000)
    assert standing(desk) == []
    assert desk.rows("SELECT question, detail, call, grants FROM card") == [("", None, None, None)]


# -- the loop guard --------------------------------------------------------------------------------


def test_prompts_to_others_count_with_what_they_do_and_not_beyond_the_limit(desk: Desk) -> None:
    desk.handed("b", "second")
    assert [prompt(desk, f"p{n}", unasked_limit=2).error for n in range(2)] == [None, None]
    refused = prompt(desk, "p2", unasked_limit=2)
    assert (refused.error, refused.value) == ("conflict", "unasked")
    assert desk.read("message", message="msg_p2") is None
    created = desk.one(
        "create_session",
        session=session_of("c", origin="agent", created_by="ses_a"),
        message=message_of("c", origin="agent", caller="ses_a"),
        unasked_limit=2,
    )
    assert (created.error, created.value) == ("conflict", "unasked")
    assert desk.read("load_session", session="ses_c") is None
    assert (unasked(desk), unasked(desk, "ses_b")) == (2, 0)
    assert prompt(desk, "p3").error is None, "who was asked about it passes"
    assert unasked(desk) == 3


def test_an_answer_to_another_agent_counts(desk: Desk) -> None:
    desk.value("open_card", card=_own_card(), at=2_500)
    desk.handed("b", "second")
    given = {"card": "q_own", "status": "answered", "prompts": "ses_b", "at": 2_600}
    assert desk.conflict("end_card", **given, unasked_limit=0) == "unasked"
    assert desk.read("card", card="q_own")["status"] == "pending"
    desk.value("end_card", **given, unasked_limit=1)
    assert (unasked(desk, "ses_b"), unasked(desk)) == (1, 0)


def test_what_the_owner_types_and_an_allow_begin_the_count_again_and_an_answer_does_not(desk: Desk) -> None:
    desk.handed("b", "second")
    prompt(desk, "p1")
    desk.value("open_card", card=_own_card(), at=2_500)
    desk.value("end_card", card="q_own", status="answered", at=2_600)
    assert unasked(desk) == 1
    prompt(desk, "typed", to="ses_a", caller=None)
    assert unasked(desk) == 0
    prompt(desk, "p2")
    prompt(desk, "agents", to="ses_a", caller="ses_b")
    assert unasked(desk) == 1, "what another agent sends is no word of the owner"
    desk.value("open_approval", card=approval_of("guard", restarts_count=True), at=2_700)
    desk.value("end_approval", card="q_guard", status="answered", answer=ALLOW, at=2_800)
    assert unasked(desk) == 0
    prompt(desk, "p3")
    desk.value("restart_count", session="ses_a")
    assert unasked(desk) == 0
    assert desk.conflict("restart_count", session="ses_none") == "missing"


def test_a_repeat_of_a_prompt_counts_once(desk: Desk) -> None:
    desk.handed("b", "second")
    message = message_of("one", session="ses_b", origin="agent", caller="ses_a")
    named = {**message, "client_id": "id", "fingerprint": "f"}
    desk.value("accept_message", message=named, unasked_limit=1)
    repeated = desk.value("accept_message", message={**named, "id": "msg_two"}, unasked_limit=1)
    assert (repeated["duplicate"], unasked(desk)) == ("msg_one", 1)
