"""Stopping and putting away: by agents and the owner, and what only the owner may."""

from typing import Any

import pytest

from showcaller.actors.relay.calls import ActRequest
from showcaller.actors.runtime import Future
from tests.actors.relay.calls.agents import agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

NOT_FOUND, BUSY = "REMOTE_RELAY_NOT_FOUND", "REMOTE_RELAY_BUSY"


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def begin_act(stage: Stage, action: Any, session: object, client_id: str | None = None) -> "Future[Any]":
    """Begin an act of the owner."""
    return stage.door._request(ActRequest(action, session, client_id))


def act(stage: Stage, action: Any, session: object, client_id: str | None = None) -> dict[str, Any]:
    """Carry out an act of the owner, and give its result."""
    begun = begin_act(stage, action, session, client_id)
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def idle(stage: Stage, **more: Any) -> tuple[str, str]:
    """Make a session whose one turn has ended."""
    session, message = stage.create("idle", **more)
    stage.workers.end(message, reply="done")
    stage.settle()
    return session, message


# -- stop ------------------------------------------------------------------------------------------


def test_a_stop_ends_the_turn_and_what_waits_stays_until_somebody_prompts(stage: Stage) -> None:
    session, first = stage.create()
    second = stage.send(session, "second")
    stopped = stage.call("stop", session=session)
    assert (stopped["ok"], stopped["session"], stopped["stopRequested"]) == (True, session, True)
    assert stopped["summary"] == f"stop → stage session {session[4:12]}: stop requested"
    assert "1 message stays in its queue" in stopped["note"]
    assert (stage.status(first), stage.status(second)) == ("stopped", "queued")
    stage.send(session, "third")
    assert stage.status(second) == "handed"


def test_a_stop_where_nothing_runs_says_so(stage: Stage) -> None:
    session, _ = idle(stage)
    stopped = stage.call("stop", session=session)
    assert (stopped["ok"], stopped["stopRequested"]) == (True, False)
    assert "note" not in stopped
    assert "nothing ran" in stopped["summary"]


def test_an_agent_stops_the_turn_of_another_session_but_not_its_own(stage: Stage) -> None:
    caller, (session, message) = agent(stage), stage.create()
    assert stage.status(message) == "handed"
    assert caller.call("stop", session=session)["stopRequested"]
    assert stage.status(message) == "stopped"
    assert caller.call("stop", session=caller.session)["code"] == "REMOTE_RELAY_OWN_SESSION"
    assert caller.call("archive", session=caller.session)["code"] == "REMOTE_RELAY_OWN_SESSION"


def test_a_stop_under_the_same_id_stops_nothing_again(stage: Stage) -> None:
    session, _ = stage.create()
    first = stage.call("stop", "one", session=session)
    later = stage.send(session, "later")
    assert stage.status(later) == "handed"
    again = stage.call("stop", "one", session=session)
    assert {**again, "note": None} == {**first, "note": None}
    assert (first["stopRequested"], again["stopRequested"]) == (True, True)
    assert stage.status(later) == "handed"
    other, _ = stage.create()
    refused = stage.call("stop", "one", session=other)
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert "Nothing was stopped" in refused["error"]


@pytest.mark.parametrize("seed", range(4))
def test_two_stops_under_one_id_at_the_same_time_give_the_same(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    session, message = stage.create()
    both = [stage.begin("stop", "one", session=session) for _ in range(2)]
    stage.settle()
    assert [call.get()["ok"] for call in both] == [True, True]
    assert len({call.get()["stopRequested"] for call in both}) == 1
    assert stage.status(message) == "stopped"


def test_go_on_lets_run_what_a_stop_holds(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    stage.call("stop", session=session)
    went_on = act(stage, "go_on", session[:10])
    assert (went_on["ok"], went_on["session"], went_on["released"]) == (True, session, True)
    assert act(stage, "go_on", session)["released"] is False, "nothing holds it any more"
    assert stage.status(second) == "handed"


# -- archive ---------------------------------------------------------------------------------------


def test_an_archived_session_is_read_and_not_written_to(stage: Stage) -> None:
    session, message = idle(stage)
    archived = stage.call("archive", session=session)
    assert (archived["ok"], archived["archived"], archived["session"]) == (True, True, session)
    for action, more in (("send", {"text": "x"}), ("stop", {}), ("archive", {})):
        refused = stage.call(action, session=session, **more)
        assert (refused["code"], refused["missing"]) == (NOT_FOUND, [session])
        assert "is archived" in refused["error"]
    assert stage.call("read_session", session=session)["session"]["archived"] is True
    assert stage.call("wait", session=session, message_id=message)["status"] == "done"
    assert stage.call("list_sessions")["sessions"] == []
    assert [row["id"] for row in stage.call("list_sessions", scope="all")["sessions"]] == [session]


def test_a_session_at_work_is_not_archived_and_what_it_holds_is_cancelled(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    refused = stage.call("archive", session=session)
    assert refused["code"] == BUSY
    assert "Wait until it is idle, or stop it." in refused["error"]
    stage.call("stop", session=session)
    archived = stage.call("archive", session=session)
    assert "1 message was cancelled" in archived["note"]
    assert stage.call("wait", session=session, message_id=second)["status"] == "cancelled"


def test_an_archive_under_the_same_id_gives_what_the_first_gave(stage: Stage) -> None:
    session, _ = idle(stage)
    first, again = (stage.call("archive", "one", session=session) for _ in range(2))
    assert first["ok"]
    assert {**again, "note": None} == {**first, "note": None}


@pytest.mark.parametrize("action", ["stop", "kill", "archive", "delete"])
def test_a_repeat_says_all_that_the_first_said(stage: Stage, action: str) -> None:
    session, _ = stage.create()
    for text in ("second", "third"):
        stage.send(session, text)
    if action in {"archive", "delete"}:
        stage.call("stop", session=session)

    def once() -> dict[str, Any]:
        if action in {"kill", "delete"}:
            return act(stage, action, session, "one")
        return stage.call(action, "one", session=session)

    first = once()
    assert "2 messages" in first["note"]
    assert once() == first
    stage.send(session, "last") if action in {"stop", "kill"} else None
    assert once() == first


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("action", ["archive", "delete"])
def test_repeats_of_putting_away_at_the_same_time_give_the_same(
    open_stage: OpenStage, action: str, seed: int
) -> None:
    stage = open_stage(seed)
    session, _ = idle(stage)
    begun = []
    for _ in range(4):
        if action == "delete":
            begun.append(begin_act(stage, "delete", session, "one"))
        else:
            begun.append(stage.begin("archive", "one", session=session))
        stage.dispatcher.step()
    stage.settle()
    assert [one.get()["ok"] for one in begun] == [True] * 4


def test_a_repeat_of_a_create_gives_what_the_first_gave_though_it_was_deleted(stage: Stage) -> None:
    made = stage.call("create_session", "one", text="x", title="T", provider="helper", wait_seconds=0)
    end_turn(stage, made["session"])
    assert act(stage, "delete", made["session"])["ok"]
    again = stage.call("create_session", "one", text="x", title="T", provider="helper", wait_seconds=0)
    told = {name: value for name, value in made.items() if name not in {"status", "summary", "progress"}}
    assert told.items() <= again.items()
    assert (again["status"], again["note"]) == ("duplicate", "That session was deleted since.")


def test_who_waits_for_what_an_archive_cancels_hears_of_it(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    stage.call("stop", session=session)
    waiting = stage.begin("wait", session=session, message_id=second, wait_seconds=60)
    stage.settle()
    stage.call("archive", session=session)
    assert waiting.get()["status"] == "cancelled"


# -- what only the owner may -----------------------------------------------------------------------


def test_a_kill_ends_the_turn_and_the_agents_process(stage: Stage) -> None:
    session, message = stage.create()
    killed = act(stage, "kill", session)
    assert (killed["ok"], killed["stopRequested"]) == (True, True)
    assert stage.status(message) == "stopped"
    assert [kill.session for kill in stage.workers.kills] == [session]


def test_a_deleted_session_is_nowhere_but_its_prompts_still_say_cancelled(stage: Stage) -> None:
    session, _ = stage.create()
    second = stage.send(session, "second")
    assert act(stage, "delete", session)["code"] == BUSY
    stage.call("stop", session=session)
    deleted = act(stage, "delete", session)
    assert (deleted["ok"], deleted["session"]) == (True, session)
    assert stage.call("list_sessions", scope="all")["sessions"] == []
    for action, more in (("send", {"text": "x"}), ("stop", {}), ("archive", {}), ("read_session", {})):
        assert stage.call(action, session=session, **more)["code"] == NOT_FOUND
    assert stage.call("read_session", session=session[:10])["code"] == NOT_FOUND
    assert act(stage, "delete", session)["code"] == NOT_FOUND
    assert stage.call("wait", session=session, message_id=second)["status"] == "cancelled"


def test_an_archived_session_can_be_deleted(stage: Stage) -> None:
    session, _ = idle(stage)
    stage.call("archive", session=session)
    assert act(stage, "delete", session)["ok"]


@pytest.mark.parametrize("action", ["kill", "delete"])
def test_an_act_under_the_same_id_is_carried_out_once(stage: Stage, action: str) -> None:
    session, _ = idle(stage)
    first, again = (act(stage, action, session[:11], "one") for _ in range(2))
    assert (first["ok"], again["ok"]) == (True, True)
    assert session.startswith(again["session"])
    assert len(stage.workers.kills) == (1 if action == "kill" else 0)


@pytest.mark.parametrize("name", [None, 7, "", "short", "ses_zzzzzzzzzzzz", "😀" * 9])
def test_an_act_on_what_names_no_session_is_refused(stage: Stage, name: object) -> None:
    refused = act(stage, "delete", name)
    assert refused["code"] in {NOT_FOUND, "REMOTE_RELAY_INVALID_INPUT"}


def test_an_ended_session_frees_its_starters_place(stage: Stage) -> None:
    caller = agent(stage)
    started = [caller.start(str(number)) for number in range(4)]
    assert act(stage, "kill", started[0])["ok"]
    end_turn(stage, caller.start("another"))
