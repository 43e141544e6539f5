"""What agents ask waits in the owner's inbox, over the death of the relay, until it is answered."""

import json
import signal
from typing import Any

import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import LIMIT, Showcaller
from tests.e2e.test_agents import call, send
from tests.e2e.test_agents import relay as relay  # noqa: PLC0414 - a fixture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def asking(daemon: Daemon, order: str) -> tuple[str, str]:
    """Start a session whose agent asks, and wait until it does; gives the session and its turn."""
    told = call(daemon, "create_session", text=order, provider="acp-fake", wait_seconds=LIMIT)
    assert told["status"] == "waiting_for_answer", told
    return told["session"], told["message_id"]


def inbox(daemon: Daemon) -> list[dict[str, Any]]:
    with daemon.owner as owner:
        return list(owner.get("/api/inbox").json()["items"])


def reply(daemon: Daemon, session: str, turn: str) -> str:
    """The reply of a turn, once that is over."""
    over = call(daemon, "wait", session=session, message_id=turn, wait_seconds=LIMIT)
    return str(over["reply"]["text"])


def test_a_permission_waits_in_the_inbox_over_the_death_of_its_relay(relay: Showcaller) -> None:
    with serving(relay, "--workers", "1") as daemon:
        session, turn = asking(daemon, "permission Run the tests")
        (item,) = inbox(daemon)
        assert (item["kind"], item["session"], item["question"]) == ("permission", session, "Run the tests")
        assert [option["label"] for option in item["options"]] == ["Allow", "Always allow", "Reject"]
        assert item["detail"] == "make"
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(timeout=60)
        with serving(relay, "--workers", "1", "--port", str(daemon.port)) as following:
            shown = relay("inbox").out
            assert "Run the tests" in shown
            assert [one["id"] for one in inbox(following)] == [item["id"]]
            read = call(following, "read_session", session=session)
            assert (read["waiting"], read["process"]) == ("permission", "alive")
            answered = relay("answer", item["id"][:8], "allow", "--json")
            assert (answered.code, json.loads(answered.out)["status"]) == (0, "answered"), answered
            assert reply(following, session, turn) == "permission: yes\n"
            assert inbox(following) == []
            again = relay("answer", item["id"], "Reject")
            assert (again.code, "answered already by owner" in again.err) == (1, True)


def test_a_choice_is_answered_over_http_once_and_a_stopped_turn_takes_its_card_with_it(
    relay: Showcaller,
) -> None:
    with serving(relay, "--workers", "1") as daemon, daemon.owner as owner:
        session, turn = asking(daemon, "choose")
        (item,) = inbox(daemon)
        assert (item["kind"], item["question"]) == ("ask_user", "Red or blue?")
        path, key = f"/api/cards/{item['id']}/answer", {"idempotency-key": "one"}
        first = owner.post(path, json={"choices": ["blue"]}, headers=key)
        assert (first.status_code, first.json()["status"]) == (200, "answered")
        assert owner.post(path, json={"choices": ["blue"]}, headers=key).json() == first.json()
        second = owner.post(path, json={"dismiss": True})
        assert (second.status_code, second.json()["code"]) == (409, "REMOTE_RELAY_ALREADY_ANSWERED")
        assert '"colour": "b"' in reply(daemon, session, turn)
        assert send(daemon, session, "permission")["status"] == "waiting_for_answer"
        assert call(daemon, "stop", session=session)["stopRequested"] is True
        assert inbox(daemon) == []
        assert owner.post("/api/cards/q_zzzzzzzzzzzz/answer", json={"dismiss": True}).status_code == 404
        assert owner.post(path, json={}).status_code == 400


def test_a_dismissed_permission_is_a_no(relay: Showcaller) -> None:
    with serving(relay, "--workers", "1") as daemon, daemon.owner as owner:
        session, turn = asking(daemon, "permission")
        (item,) = inbox(daemon)
        assert owner.post(f"/api/cards/{item['id']}/answer", json={"dismiss": True}).status_code == 200
        assert reply(daemon, session, turn) == "permission: no\n"
