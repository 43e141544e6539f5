"""Tokens in the store: one of each name, the conversation that it speaks for, and nothing but hashes."""

import pytest

from tests.store.commands.test_tasks import end_of, task_of
from tests.store.desk import Desk, ending, message_of, session_of


def issue(desk: Desk, token: str, name: str = "script", at: int = 1_000, session: str = "a") -> str:
    """Keep a token of an external client; gives its conversation."""
    theirs = session_of(session, provider="external")
    new = {"hash": token, "kind": "external", "name": name, "at": at, "session": theirs}
    value = desk.value("issue_token", replace=True, **new)
    return str(value["session"])


def test_a_token_makes_the_conversation_that_it_speaks_for(desk: Desk) -> None:
    assert issue(desk, "00") == "ses_a"
    assert desk.read("load_session", session="ses_a")["provider"] == "external"
    assert desk.read("token", hash="00") == {
        "kind": "external",
        "name": "script",
        "session": "ses_a",
        "expires_at": None,
        "revoked_at": None,
    }
    assert desk.read("token", hash="01") is None


def test_another_token_of_the_name_takes_over_the_conversation(desk: Desk) -> None:
    issue(desk, "00")
    assert issue(desk, "01", at=2_000, session="b") == "ses_a"
    assert desk.read("token", hash="00")["revoked_at"] == 2_000
    assert desk.read("load_session", session="ses_b") is None
    assert issue(desk, "02", at=3_000, session="b") == "ses_a"
    listed = desk.read("tokens")
    assert [(row["created_at"], row["revoked_at"]) for row in listed] == [(3_000, None), (2_000, 3_000)]
    assert all("hash" not in row for row in listed)


def test_a_token_in_force_is_not_replaced_unless_that_was_asked_for(desk: Desk) -> None:
    issue(desk, "00")
    theirs = session_of("b", provider="external")
    another = {"hash": "01", "kind": "external", "name": "script", "at": 2_000, "session": theirs}
    assert desk.conflict("issue_token", **another) == "name"
    assert desk.read("token", hash="00")["revoked_at"] is None
    assert desk.read("token", hash="01") is None
    desk.value("revoke_token", name="script", at=3_000)
    assert desk.value("issue_token", **another) == {"session": "ses_a", "repeated": False}


def test_a_token_that_is_issued_again_stays_as_it_is_and_does_not_come_back(desk: Desk) -> None:
    """Whoever has had no answer asks again, with the same token."""
    new = {"kind": "external", "name": "script", "session": session_of("a", provider="external")}
    assert desk.value("issue_token", hash="01", at=1_000, **new) == {"session": "ses_a", "repeated": False}
    for replace in (False, True):
        again = desk.value("issue_token", hash="01", at=2_000, replace=replace, **new)
        assert again == {"session": "ses_a", "repeated": True}
    assert [row["created_at"] for row in desk.read("tokens")] == [1_000]
    desk.value("revoke_token", name="script", at=3_000)
    for replace in (False, True):
        assert desk.conflict("issue_token", hash="01", at=4_000, replace=replace, **new) == "hash"
    assert desk.read("token", hash="01")["revoked_at"] == 3_000


@pytest.mark.parametrize(
    ("put_away", "state"), [("archive_session", "archived"), ("delete_session", "deleted")]
)
def test_a_token_whose_conversation_was_put_away_is_listed_as_that_and_gives_its_name_free(
    desk: Desk, put_away: str, state: str
) -> None:
    issue(desk, "00")
    desk.value("issue_token", hash="02", kind="supervisor", name="watch", at=1_000)
    desk.value(put_away, session="ses_a", at=2_000)
    assert {row["name"]: row["state"] for row in desk.read("tokens")} == {
        "script": state,
        "watch": "in_force",
    }
    theirs = session_of("b", provider="external")
    another = {"hash": "01", "kind": "external", "name": "script", "at": 3_000, "session": theirs}
    assert desk.value("issue_token", **another) == {"session": "ses_b", "repeated": False}
    states = {(row["name"], row["created_at"]): row["state"] for row in desk.read("tokens")}
    assert states[("script", 3_000)] == "in_force"


@pytest.mark.parametrize("put_away", ["archive_session", "delete_session"])
def test_a_conversation_that_was_put_away_does_not_come_back(desk: Desk, put_away: str) -> None:
    issue(desk, "00")
    desk.value(put_away, session="ses_a", at=2_000)
    assert issue(desk, "01", at=3_000, session="b") == "ses_b"


def test_a_revoked_token_is_known_as_that(desk: Desk) -> None:
    issue(desk, "00")
    revoked = desk.value("revoke_token", name="script", at=2_000)
    assert revoked == {"kind": "external", "name": "script", "session": "ses_a"}
    assert desk.read("token", hash="00")["revoked_at"] == 2_000
    assert desk.conflict("revoke_token", name="script", at=3_000) == "token"
    assert desk.read("token", hash="00")["revoked_at"] == 2_000
    assert issue(desk, "01", at=4_000, session="b") == "ses_a"


def test_of_two_tokens_with_one_name_the_kind_says_which(desk: Desk) -> None:
    issue(desk, "00", name="watch")
    value = desk.value("issue_token", hash="01", kind="supervisor", name="watch", at=1_000)
    assert value == {"session": None, "repeated": False}
    assert desk.conflict("revoke_token", name="watch", at=2_000) == "kind"
    desk.value("revoke_token", name="watch", kind="supervisor", at=2_000)
    assert desk.read("token", hash="00")["revoked_at"] is None
    assert desk.read("token", hash="01")["revoked_at"] == 2_000


def test_its_last_use_is_noted(desk: Desk) -> None:
    issue(desk, "00")
    desk.value("note_token_uses", uses={"00": 5_000, "gone": 6_000})
    assert [row["used_at"] for row in desk.read("tokens")] == [5_000]


def test_a_turn_goes_on_while_a_worker_has_it_or_its_task_runs(desk: Desk) -> None:
    desk.handed("a", "first")
    desk.value("accept_message", message=message_of("second", session="ses_a"))
    desk.session("b")

    def goes_on(turn: str, session: str = "ses_a") -> bool:
        found: bool = desk.read("turn_goes_on", session=session, turn=turn)
        return found

    assert [goes_on("msg_first"), goes_on("msg_second"), goes_on("msg_none")] == [True, False, False]
    assert not goes_on("msg_first", "ses_b")
    desk.value("start_task", task=task_of("t", message="msg_first"), at=2_000)
    desk.value("end_turn", **ending("first"))
    assert goes_on("msg_first")
    desk.value("end_task", **end_of("t"))
    assert not goes_on("msg_first")


def test_no_client_has_a_token_made_where_the_last_of_its_name_was_revoked(desk: Desk) -> None:
    theirs = session_of("b", provider="external")
    asked = {"hash": "01", "kind": "external", "name": "script", "session": theirs, "by_client": True}
    issue(desk, "00")
    assert desk.conflict("issue_token", at=2_000, **asked) == "name"
    desk.value("revoke_token", name="script", at=3_000)
    for replace in (False, True):
        assert desk.conflict("issue_token", at=4_000, replace=replace, **asked) == "revoked"
    issue(desk, "02", at=5_000)
    desk.value("archive_session", session="ses_a", at=6_000)
    assert desk.value("issue_token", at=7_000, **asked) == {"session": "ses_b", "repeated": False}
    assert desk.value("issue_token", at=8_000, **asked) == {"session": "ses_b", "repeated": True}
