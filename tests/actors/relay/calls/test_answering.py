"""``answer_question`` of agents, and the owner's inbox and answers."""

import sqlite3
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import AgentState, CardOption
from showcaller.actors.contract.inbox import Answer, Inbox
from showcaller.actors.contract.outside import Monitor, read_request
from showcaller.actors.relay.calls import OWNER, AnswerRequest, Caller, WatchRequest
from showcaller.actors.relay.card_messages import GiveAnswer
from showcaller.actors.relay.messages import ToSession
from tests.actors.relay.asking import HOURS, ask, status, waiting
from tests.actors.relay.calls.agents import Agent, agent, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

ASKS: dict[str, Any] = {"card_kind": "ask_user", "question": "Which one?"}


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def asking(stage: Stage, caller: Agent | None = None, **more: Any) -> tuple[str, str, str]:
    """Have a session whose agent asks; gives it, its turn and the card."""
    if caller is None:
        session, turn = stage.create(provider="helper")
    else:
        session = caller.start()
        (turn,) = [run.turn for run in stage.workers.runs if run.session == session]
    return session, turn, ask(stage, turn, "Left", "Right", **{**ASKS, **more})


def own(stage: Stage, card: str, id: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: A002
    """Answer a card as the owner."""
    begun = stage.door._request(request(card, id, **more))
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def request(card: str, id: str | None, **more: Any) -> Any:  # noqa: A002
    return AnswerRequest(read_request(Answer, {"question_id": card, **more}), id)


def watch(stage: Stage, asked: Any, caller: Caller = OWNER) -> dict[str, Any]:
    begun = stage.door._request(WatchRequest(asked, caller))
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


# -- agents ----------------------------------------------------------------------------------------


def test_a_starter_is_told_of_the_question_and_answers_it(stage: Stage) -> None:
    caller = agent(stage)
    sent = caller.begin("create_session", text="choose", wait_seconds=600)
    stage.settle()
    run = stage.workers.runs[-1]
    stage.workers.write(run.turn, "Let me see")
    card = ask(stage, run.turn, "Left", "Right", **ASKS)
    told = sent.get()
    assert (told["status"], told["progress"]["text"]) == ("waiting_for_answer", "Let me see")
    assert told["pendingQuestions"] == [
        {
            "id": card,
            "kind": "ask_user",
            "question": "Which one?",
            "options": ["Left", "Right"],
            "multiSelect": False,
            "allowFreeform": False,
        }
    ]
    again = caller.call("wait", session=run.session, message_id=run.turn, wait_seconds=600)
    assert again["status"] == "waiting_for_answer"
    answered = caller.call("answer_question", question_id=card, choices=["RIGHT"])
    assert (answered["status"], answered["question_id"]) == ("answered", card)
    assert [told.choices for told in stage.workers.card_answers] == [("1",)]
    assert stage.read("card", card=card)["via"] == f"agent {caller.session}"
    after = caller.call("wait", session=run.session, message_id=run.turn, wait_seconds=0)
    assert (after["status"], "pendingQuestions" in after) == ("running", False)


def test_a_card_that_is_gone_before_it_was_read_ends_no_waiting(stage: Stage) -> None:
    session, turn = stage.create(provider="helper")
    waits = stage.begin("wait", session=session, message_id=turn, wait_seconds=600)
    stage.settle()
    stage.reader.hold()
    card = ask(stage, turn, "Left", **ASKS)
    stage.supervisor.tell(ToSession(session, GiveAnswer(card, ("Left",))))
    stage.settle()
    stage.reader.release()
    stage.settle()
    assert not waits.done
    stage.workers.end(turn)
    stage.settle()
    assert waits.get()["status"] == "done"


def test_a_permission_is_the_owners_to_answer(stage: Stage) -> None:
    caller = agent(stage)
    _, _, card = asking(stage, caller, card_kind="permission")
    refused = caller.call("answer_question", question_id=card, choices=["Left"])
    assert (refused["code"], status(stage, card)) == ("REMOTE_RELAY_FORBIDDEN", "pending")
    answered = own(stage, card, choices=["left"], id="a1")
    assert (answered["status"], answered["chosen"]) == ("answered", ["Left"])
    assert own(stage, card, choices=["left"], id="a1")["chosen"] == ["Left"]


def test_an_agent_does_not_answer_its_own_question(stage: Stage) -> None:
    caller = agent(stage)
    turn = stage.workers.runs[-1].turn
    card = ask(stage, turn, "Left", **ASKS)
    refused = caller.call("answer_question", question_id=card, choices=["Left"])
    assert (refused["code"], status(stage, card)) == ("REMOTE_RELAY_OWN_SESSION", "pending")


@pytest.mark.parametrize(
    ("question", "code"),
    [("q_zzzzzzzzzzzz", "REMOTE_RELAY_NOT_FOUND"), ("ask_zzzzzzzzzzzz", "REMOTE_RELAY_FORBIDDEN")],
)
def test_what_is_no_card_is_not_answered(stage: Stage, question: str, code: str) -> None:
    assert agent(stage).call("answer_question", question_id=question, answer="x")["code"] == code


def test_the_second_answer_hears_how_the_first_was(stage: Stage) -> None:
    _, _, card = asking(stage)
    own(stage, card, choices=["Left"])
    refused = agent(stage).call("answer_question", question_id=card, choices=["Left"])
    assert refused["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"
    assert "was answered already by owner" in refused["error"]


@pytest.mark.parametrize(
    ("settings", "provider", "code"),
    [
        ({"agent_sessions": False}, "helper", "REMOTE_RELAY_LOCAL_DISABLED"),
        ({}, "joiner", "REMOTE_RELAY_PROVIDER_UNAVAILABLE"),
    ],
)
def test_an_answer_is_a_write_to_a_session_that_agents_may_prompt(
    open_stage: OpenStage, settings: dict[str, Any], provider: str, code: str
) -> None:
    stage = open_to_agents(open_stage, **settings)
    caller = agent(stage)
    _, turn = stage.create(provider=provider)
    card = ask(stage, turn, "Left", **ASKS)
    refused = caller.call("answer_question", question_id=card, choices=["Left"])
    assert (refused["code"], status(stage, card)) == (code, "pending")


def test_an_answer_sent_again_gives_what_the_first_gave(stage: Stage) -> None:
    caller = agent(stage)
    _, _, card = asking(stage, caller)
    first = caller.call("answer_question", "once", question_id=card, choices=["Left"])
    again = caller.call("answer_question", "once", question_id=card, choices=["Left"])
    assert {**again, "summary": ""} == {**first, "summary": ""}
    other = caller.call("answer_question", "once", question_id=card, choices=["Right"])
    assert other["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert len(stage.workers.card_answers) == 1


def test_two_repeats_at_a_time_are_one_answer(stage: Stage) -> None:
    caller = agent(stage)
    _, _, card = asking(stage, caller)
    both = [caller.begin("answer_question", "once", question_id=card, choices=["Left"]) for _ in range(2)]
    stage.settle()
    assert [call.get()["status"] for call in both] == ["answered", "answered"]
    assert len(stage.workers.card_answers) == 1


# -- what is seen ----------------------------------------------------------------------------------


def test_a_session_that_waits_says_for_what_and_is_active(stage: Stage) -> None:
    session, turn, card = asking(stage, allow_freeform=True, multi_select=True)
    read = stage.call("read_session", session=session)
    assert (read["state"], read["waiting"], read["session"]["waiting"]) == (
        "running_turn",
        "question",
        "question",
    )
    (question,) = read["pendingQuestions"]
    assert (question["id"], question["multiSelect"], question["allowFreeform"]) == (card, True, True)
    listed = stage.call("list_sessions", scope="active")
    assert [row["waiting"] for row in listed["sessions"]] == ["question"]
    assert listed["summary"] == "list_sessions: 1 session, 0 at work, 1 waiting for an answer"
    ask(stage, turn, card="c2")
    assert stage.call("read_session", session=session)["waiting"] == "permission"
    stage.workers.end(turn)
    stage.settle()
    read = stage.call("read_session", session=session)
    assert ("waiting" in read, "pendingQuestions" in read and read["pendingQuestions"]) == (False, [])


def test_a_message_behind_a_turn_that_waits_is_queued(stage: Stage) -> None:
    session, _, _ = asking(stage)
    sent = stage.call("send", session=session, text="next", wait_seconds=0)
    assert sent["status"] == "queued"


def test_the_process_of_an_agent_is_told_and_its_own_id_of_the_conversation(stage: Stage) -> None:
    session, turn = stage.create(provider="helper")
    stage.workers.say(AgentState(session=session, state="starting"))
    stage.settle()
    assert stage.call("read_session", session=session)["process"] == "starting"
    stage.workers.say(AgentState(session=session, state="alive", agent_session="native-1"))
    stage.workers.end(turn)
    stage.settle()
    assert stage.awake == []
    (row,) = stage.call("list_sessions")["sessions"]
    assert (row["process"], row["agentSessionId"], row["state"]) == ("alive", "native-1", "idle")
    stage.workers.say(AgentState(session=session, state="none", why="idle"))
    stage.settle()
    assert stage.call("read_session", session=session)["process"] == "none"
    assert stage.read("load_session", session=session)["agent_session_id"] == "native-1"


# -- the owner -------------------------------------------------------------------------------------


def test_the_inbox_lists_what_waits_newest_first(stage: Stage) -> None:
    session, turn, first = asking(stage, detail="all of it")
    stage.advance(1)
    second = ask(stage, turn, card="c2", options=(CardOption(id="y", label="Yes", kind="allow_once"),))
    page = watch(stage, read_request(Inbox, {"limit": 1}))
    (item,) = page["items"]
    assert (item["id"], item["kind"], item["session"], item["title"]) == (
        second,
        "permission",
        session,
        "first",
    )
    assert item["options"] == [{"id": "y", "label": "Yes", "kind": "allow_once"}]
    rest = watch(stage, read_request(Inbox, {"cursor": page["nextCursor"]}))
    assert [(item["id"], item["detail"], item["message_id"]) for item in rest["items"]] == [
        (first, "all of it", turn)
    ]
    assert "nextCursor" not in rest
    own(stage, first, choices=["Left"])
    own(stage, second, dismiss=True)
    assert watch(stage, read_request(Inbox, {}))["items"] == []
    assert [told.outcome for told in stage.workers.card_answers] == ["answered", "dismissed"]


def test_the_inbox_is_the_owners_alone(stage: Stage) -> None:
    session, _, _ = asking(stage)
    for caller in (Caller("agent", session), Caller("external", session, supervises=True)):
        refused = watch(stage, read_request(Inbox, {}), caller)
        assert refused["code"] in {"REMOTE_RELAY_FORBIDDEN", "REMOTE_RELAY_UNAUTHENTICATED"}
        assert "items" not in refused


def test_the_owner_dismisses_and_a_repeat_gives_the_same(stage: Stage) -> None:
    session, _, card = asking(stage)
    first = own(stage, card, "once", dismiss=True)
    assert (first["ok"], first["status"], first["session"]) == (True, "dismissed", session)
    assert own(stage, card, "once", dismiss=True)["status"] == "dismissed"
    refused = own(stage, card, dismiss=True)
    assert refused["code"] == "REMOTE_RELAY_ALREADY_ANSWERED"


def test_a_card_that_was_not_answered_in_time_says_so(stage: Stage) -> None:
    _, _, card = asking(stage)
    stage.advance(8 * HOURS + 1)
    refused = own(stage, card, choices=["Left"])
    assert (refused["code"], "not answered in time" in refused["error"]) == (
        "REMOTE_RELAY_ALREADY_ANSWERED",
        True,
    )
    assert waiting(stage) == []


# -- watching --------------------------------------------------------------------------------------


def test_a_monitor_fires_when_a_session_waits_for_an_answer(stage: Stage) -> None:
    session, turn = stage.create(provider="helper")
    asked = read_request(Monitor, {"sessions": [session], "until": ["awaiting-input"], "timeout": 600})
    begun = stage.door._request(WatchRequest(asked))
    stage.settle()
    assert not begun.done
    ask(stage, turn, "Left", **ASKS)
    seen = begun.get()
    assert [(event["event"], event["text"]) for event in seen["fired"]] == [("question_asked", "Which one?")]
    assert [(row["session"], row["waiting"]) for row in seen["pending"]] == [(session, "question")]
    later = watch(stage, read_request(Monitor, {"sessions": [session], "until": ["awaiting-input"]}))
    assert [row["session"] for row in later["alreadyWaiting"]] == [session]
    assert later["timedOut"] is False


def test_an_approval_is_only_counted_and_no_agent_answers_it(stage: Stage) -> None:
    caller = agent(stage)
    session, turn, question = asking(stage, caller)
    approval = stage.new_id("q_")
    with sqlite3.connect(stage.path) as store:
        store.execute(
            "INSERT INTO card (id, session, kind, message, question, multi_select, allow_freeform, status,"
            " created_at, expires_at) VALUES (?, ?, 'approval', ?, 'Start it?', 0, 0, 'pending', 1, 2)",
            (approval, session, turn),
        )
    store.close()
    told = caller.call("wait", session=session, message_id=turn, wait_seconds=0)
    assert ([one["id"] for one in told["pendingQuestions"]], told["approvalsPending"]) == ([question], 1)
    read = caller.call("read_session", session=session)
    assert (read["waiting"], [one["id"] for one in read["pendingQuestions"]]) == ("approval", [question])
    refused = caller.call("answer_question", question_id=approval, choices=["Allow"])
    assert (refused["code"], status(stage, approval)) == ("REMOTE_RELAY_FORBIDDEN", "pending")
