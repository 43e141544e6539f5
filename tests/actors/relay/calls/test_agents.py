"""What holds for agents alone, one check after another."""

import json
from typing import Any

import pytest

from showcaller.actors.contract.actions import find_action
from showcaller.actors.relay.calls import ActRequest, Caller
from showcaller.actors.relay.messages import CreateSession, Prompt, ToSession
from tests.actors.relay.calls.agents import Agent, agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

NOBODY = "ses_zzzzzzzzzzzz"
ACTIONS = [
    "list_relays",
    "relay_info",
    "list_sessions",
    "read_session",
    "read_task_output",
    "send",
    "create_session",
    "wait",
    "stop",
    "archive",
]


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def code(result: dict[str, Any]) -> str | None:
    return result.get("code")


# -- rate ------------------------------------------------------------------------------------------


def test_an_agent_makes_sixty_calls_a_minute_and_ten_writes(stage: Stage) -> None:
    caller, (other, _) = agent(stage), stage.create()
    for _ in range(10):
        caller.call("send", session="ses_zzzzzz", text="x")
    refused = caller.call("send", session=other, text="x")
    assert (code(refused), refused["retryAfterSeconds"]) == ("REMOTE_RELAY_RATE_LIMITED", 60)
    for _ in range(50):
        assert caller.call("list_sessions")["ok"]
    assert code(caller.call("list_sessions")) == "REMOTE_RELAY_RATE_LIMITED"
    assert agent(stage).call("list_sessions")["ok"], "another conversation has its own minute"
    stage.advance(60)
    assert caller.call("list_sessions")["ok"]


def test_the_owner_may_call_as_often_as_it_likes(stage: Stage) -> None:
    for _ in range(70):
        assert stage.call("list_sessions")["ok"]


# -- switch, own session ---------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["list_sessions", "read_session", "send", "create_session", "wait"])
def test_agents_are_refused_while_their_owner_has_not_let_them(open_stage: OpenStage, action: str) -> None:
    stage = open_to_agents(open_stage, agent_sessions=False)
    session, message = stage.create(provider="helper")
    more = {"session": session, "text": "x", "message_id": message}
    refused = agent(stage).call(action, **({"text": "x"} if action == "create_session" else more))
    assert code(refused) == "REMOTE_RELAY_LOCAL_DISABLED"
    assert "agent_sessions" in refused["error"]


@pytest.mark.parametrize("action", ["send", "wait"])
@pytest.mark.parametrize("length", [6, 12])
def test_an_agent_does_not_act_on_its_own_session(stage: Stage, action: str, length: int) -> None:
    caller = agent(stage)
    more = {"text": "x"} if action == "send" else {"message_id": next(iter(stage.workers.open))}
    refused = caller.call(action, session=caller.session[4 : 4 + length], **more)
    assert code(refused) == "REMOTE_RELAY_OWN_SESSION"
    assert caller.call("read_session", session=caller.session)["ok"]


# -- nested ----------------------------------------------------------------------------------------


def test_a_session_that_an_agent_started_starts_none(stage: Stage) -> None:
    nested = agent(stage).start_agent()
    refused = nested.call("create_session", text="x")
    assert code(refused) == "REMOTE_RELAY_NESTED_SESSION"
    assert "Nothing was created" in refused["error"]
    assert nested.call("send", session=stage.create()[0], text="x")["code"] != code(refused)


def test_a_session_whose_owner_lets_it_starts_others_and_says_so(stage: Stage) -> None:
    starter = agent(stage)
    row = {"id": "ses_let000000000", "title": "t", "provider": "helper", "mode": "agent", "created_at": 1}
    row |= {"origin": "agent", "created_by": starter.session, "may_create_sessions": True}
    prompt = {"id": "msg_let000000000", "origin": "agent", "text": "x", "created_at": 1}
    stage.supervisor.tell(CreateSession(row, Prompt(prompt)))
    stage.settle()
    shown = starter.call("read_session", session="ses_let000000000")["session"]
    assert shown["mayCreateSessions"] is True
    assert "mayCreateSessions" not in stage.call("read_session", session=starter.session)["session"]
    nested = Agent(stage, "ses_let000000000").start_agent()
    assert code(nested.call("create_session", text="x")) == "REMOTE_RELAY_NESTED_SESSION"


@pytest.mark.parametrize("action", ACTIONS)
def test_an_agent_whose_session_is_gone_is_refused_whatever_it_asks(stage: Stage, action: str) -> None:
    caller, (other, message) = agent(stage), stage.create(provider="helper")
    named = {"session": other, "text": "x", "message_id": message, "task_id": "tsk_000000000000"}
    taken = {name: named[name] for name in find_action(action).arguments if name in named}
    if action == "create_session":
        taken = {"text": "x"}
    end_turn(stage, caller.session)
    deleted = stage.door._request(ActRequest("delete", caller.session))
    stage.settle()
    assert deleted.get()["ok"]
    for gone in (caller, Agent(stage, NOBODY)):
        assert code(gone.call(action, **taken)) == "REMOTE_RELAY_UNAUTHENTICATED"
    assert stage.status(message) == "handed"
    assert stage.call("read_session", session=other)["session"]["id"] == other


@pytest.mark.parametrize("kind", ["agent", "owner ", ""])
@pytest.mark.parametrize("session", [None, "", "ses_", 5, "ses_\ud800", "x" * 10_000])
def test_who_is_neither_the_owner_nor_an_agent_with_a_session_is_refused(
    stage: Stage, kind: Any, session: Any
) -> None:
    for action in ("list_relays", "list_sessions"):
        refused = stage.call(action, None, Caller(kind, session))
        assert code(refused) == "REMOTE_RELAY_UNAUTHENTICATED"
        assert len(refused["error"]) <= 200


# -- sessions at work ------------------------------------------------------------------------------


def test_four_sessions_that_an_agent_started_are_at_work_and_no_fifth(stage: Stage) -> None:
    caller = agent(stage)
    started = [caller.start(str(number)) for number in range(4)]
    refused = caller.call("create_session", text="fifth", wait_seconds=0)
    assert code(refused) == "REMOTE_RELAY_SESSION_LIMIT"
    assert (refused["limit"], refused["sessions"]) == (4, sorted(started))
    assert caller.call("send", session=started[0], text="more", wait_seconds=0)["ok"]
    end_turn(stage, started[3])
    fifth = caller.start("fifth")
    refused = caller.call("send", session=started[3], text="more", wait_seconds=0)
    assert code(refused) == "REMOTE_RELAY_SESSION_LIMIT"
    end_turn(stage, fifth)
    assert caller.call("send", session=started[3], text="more", wait_seconds=0)["ok"]


def test_sessions_of_others_do_not_count(stage: Stage) -> None:
    caller, other = agent(stage), agent(stage)
    for number in range(4):
        other.start(str(number))
        stage.create(str(number), provider="helper")
    foreign = caller.start()
    for _ in range(3):
        caller.start()
    owners, _ = stage.create(provider="helper")
    assert caller.call("send", session=owners, text="x", wait_seconds=0)["ok"]
    assert stage.call("send", session=foreign, text="x", wait_seconds=0)["ok"], "the owner has no such limit"


@pytest.mark.parametrize("seed", range(8))
def test_of_creates_at_the_same_time_as_many_pass_as_may(open_stage: OpenStage, seed: int) -> None:
    stage = open_to_agents(open_stage, seed, max_active_sessions=3)
    caller = agent(stage)
    caller.start()
    calls = [caller.begin("create_session", text=str(n), wait_seconds=0) for n in range(5)]
    stage.settle()
    assert sorted(call.get()["ok"] for call in calls) == [False] * 3 + [True] * 2
    assert len(stage.read("started_at_work", caller=caller.session)) == 3


def test_a_create_that_is_refused_for_something_else_takes_nobodys_place(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage, max_active_sessions=1)
    caller = agent(stage)
    stage.reader.hold("find_group")
    refused = caller.begin("create_session", text="x", group="nowhere", wait_seconds=0)
    stage.settle()
    assert not refused.done
    assert caller.call("create_session", text="x", wait_seconds=0)["ok"]
    stage.reader.release()
    stage.settle()
    assert code(refused.get()) == "REMOTE_RELAY_UNKNOWN_GROUP"


@pytest.mark.parametrize("seed", range(10))
def test_repeats_at_the_same_time_do_not_count_against_each_other(open_stage: OpenStage, seed: int) -> None:
    stage = open_to_agents(open_stage, seed)
    caller = agent(stage)
    for number in range(3):
        caller.start(str(number))
    repeats = [caller.begin("create_session", "one", text="x", wait_seconds=0) for _ in range(3)]
    others = [caller.begin("create_session", f"two-{n}", text="x", wait_seconds=0) for n in range(3)]
    stage.settle()
    results = [repeat.get() for repeat in repeats]
    if all(result["ok"] for result in results):
        assert sorted(result["status"] == "duplicate" for result in results) == [False, True, True]
        assert len({result["session"] for result in results}) == 1
    else:  # another was before them
        assert {code(result) for result in results} == {"REMOTE_RELAY_SESSION_LIMIT"}
    started = {result["session"] for result in results + [other.get() for other in others] if result["ok"]}
    assert len(started) <= 1
    stage.advance(61)
    again = [caller.begin("create_session", "one", text="x", wait_seconds=0) for _ in range(2)]
    stage.settle()
    assert {code(one.get()) for one in again} == {code(results[0])}


def test_three_creates_under_one_id_take_the_last_place_together(stage: Stage) -> None:
    caller = agent(stage)
    for number in range(3):
        caller.start(str(number))
    repeats = [caller.begin("create_session", "one", text="x", wait_seconds=0) for _ in range(3)]
    stage.settle()
    statuses = [repeat.get().get("status") for repeat in repeats]
    assert sorted(str(status) for status in statuses) == ["duplicate", "duplicate", "running"]


def test_a_create_that_is_refused_leaves_its_place(stage: Stage) -> None:
    caller = agent(stage)
    for _ in range(6):
        assert not caller.call("create_session", text="x", cwd="relative")["ok"]
    caller.start()


# -- providers and consent -------------------------------------------------------------------------


def test_what_agents_may_not_start_they_may_read_and_wait_for(stage: Stage) -> None:
    caller, (session, message) = agent(stage), stage.create()
    for refused in (
        caller.call("create_session", text="x", provider="command"),
        caller.call("send", session=session, text="x"),
    ):
        assert code(refused) == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
        assert refused["providers"] == ["helper", "scribe"]
    assert caller.call("read_session", session=session)["ok"]
    assert caller.call("wait", session=session, message_id=message, wait_seconds=0)["ok"]


# -- where it comes from ---------------------------------------------------------------------------


def test_a_started_session_takes_provider_and_mode_of_its_starter(stage: Stage) -> None:
    caller = agent(stage, provider="scribe", mode="plan")
    made = caller.call("create_session", text="x", wait_seconds=0)
    assert (made["provider"], made["modelSource"], made["mode"]) == ("scribe", "caller", "plan")
    made = caller.call("create_session", text="x", provider="helper", mode="agent", wait_seconds=0)
    assert (made["provider"], made["modelSource"], made["mode"]) == ("helper", "requested", "agent")


def test_a_started_session_joins_its_starters_group_or_makes_one_with_the_starter_as_head(
    stage: Stage,
) -> None:
    caller = agent(stage, "the starter")
    first = caller.call("create_session", text="x", wait_seconds=0)["group"]
    assert (first["name"], first["role"]) == ("the starter", "member")
    assert caller.call("create_session", text="x", wait_seconds=0)["group"] == first
    own = caller.call("read_session", session=caller.session)["group"]
    assert (own["id"], own["role"], len(own["members"])) == (first["id"], "head", 2)
    stage.fan_out(["a"], name="Nightly").work()
    named = caller.call("create_session", text="x", group="nightly", wait_seconds=0)["group"]
    assert named["name"] == "Nightly"
    joined = agent(stage, group="Nightly").call("create_session", text="x", wait_seconds=0)["group"]
    assert joined == named
    by_title = caller.call("create_session", text="x", group="THE STARTER", wait_seconds=0)["group"]
    assert by_title == first


def test_the_owners_sessions_join_no_group_by_themselves(stage: Stage) -> None:
    assert stage.call("create_session", text="x", wait_seconds=0)["group"] is None


def test_an_unknown_group_is_refused_with_those_that_there_are(stage: Stage) -> None:
    for number in range(21):
        stage.fan_out(["a"], name=f"group {number}").work()
    refused = stage.call("create_session", text="x", group="none")
    assert code(refused) == "REMOTE_RELAY_UNKNOWN_GROUP"
    assert (len(refused["groups"]), refused["groupsTotal"]) == (20, 21)


def test_a_provider_that_agents_may_not_start_is_not_inherited(stage: Stage) -> None:
    refused = agent(stage, provider="command").call("create_session", text="x", wait_seconds=0)
    assert code(refused) == "REMOTE_RELAY_PROVIDER_UNAVAILABLE"


def test_who_started_a_session_is_told_from_the_callers_point_of_view(stage: Stage) -> None:
    caller, other = agent(stage), agent(stage)
    session = caller.start()
    for by, is_own in ((caller, True), (other, False), (stage, False)):
        for shown in (
            by.call("read_session", session=session)["session"],
            *(row for row in by.call("list_sessions")["sessions"] if row["id"] == session),
        ):
            assert shown["createdBy"] == caller.session
            assert shown["startedByYou"] is is_own
    assert caller.call("read_session", session=caller.session)["session"]["createdBy"] == "owner"


def test_a_prompt_keeps_who_sent_it(stage: Stage) -> None:
    caller = agent(stage)
    sent = caller.call("send", session=stage.create(provider="helper")[0], text="x", wait_seconds=0)
    row = stage.read("message", message=sent["message_id"])
    assert (row["origin"], row["caller"], row["hops"]) == ("agent", caller.session, 0)
    (shown,) = [
        message
        for message in stage.call("read_session", session=sent["session"])["messages"]
        if message["id"] == sent["message_id"]
    ]
    assert shown["via"] == 'agent · "work"'


def test_a_turn_is_told_which_agent_has_sent_its_prompt_and_the_text_holds_nothing_of_it(
    stage: Stage,
) -> None:
    caller = agent(stage)
    sent = caller.call("send", session=stage.create(provider="helper")[0], text="x", wait_seconds=0)
    stage.workers.end(sent_before := stage.workers.runs[-1].turn)
    stage.settle()
    run = stage.workers.runs[-1]
    assert (run.turn, run.text) == (sent["message_id"], "x") != (sent_before, "x")
    assert run.environment["SHOWCALLER_ORIGIN"] == "agent"
    via = json.loads(run.environment["SHOWCALLER_VIA"])
    assert (via["session"], via["title"]) == (caller.session, "work")


def test_a_prompt_carries_the_hops_of_the_turn_that_sends_it(stage: Stage) -> None:
    caller = agent(stage)
    stage.workers.end(next(iter(stage.workers.open)))
    stage.settle()
    far = {"id": "msg_far000000000", "origin": "agent", "text": "x", "created_at": 1, "hops": 2}
    stage.supervisor.tell(ToSession(caller.session, Prompt(far)))
    stage.settle()
    for session in (caller.start(), stage.create(provider="helper")[0]):
        sent = caller.call("send", session=session, text="on", wait_seconds=0)
        assert stage.read("message", message=sent["message_id"])["hops"] == 2
    first = stage.call("read_session", session=caller.start())["messages"][0]["id"]
    assert stage.read("message", message=first)["hops"] == 2


def test_a_message_that_joins_a_turn_raises_its_hops(stage: Stage) -> None:
    caller = agent(stage, provider="joiner")
    far = {"id": "msg_far000000000", "origin": "agent", "text": "x", "created_at": 1, "hops": 2}
    stage.supervisor.tell(ToSession(caller.session, Prompt(far)))
    stage.workers.on_steer = lambda steer: stage.workers.answer_steering(steer, accepted=True)
    stage.settle()
    assert stage.read("message", message="msg_far000000000")["steered_into"] is not None
    sent = caller.call("send", session=stage.create(provider="helper")[0], text="on", wait_seconds=0)
    assert stage.read("message", message=sent["message_id"])["hops"] == 2


def test_ids_of_two_callers_do_not_meet(stage: Stage) -> None:
    session, _ = stage.create(provider="helper")
    sent = [
        by.call("send", "one", session=session, text="x", wait_seconds=0)
        for by in (stage, agent(stage), agent(stage))
    ]
    assert len({result["message_id"] for result in sent}) == 3
