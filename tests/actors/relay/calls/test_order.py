"""The order of the checks: of all that is wrong with a call, the first gives the code."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.limits import WRITES_PER_MINUTE
from showcaller.actors.relay.messages import CreateSession, Prompt
from tests.actors.relay.calls.agents import Agent, agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

Fault = Callable[[Stage, Agent], object]


def spend(stage: Stage, caller: Agent) -> None:
    """Use up the caller's writes of this minute."""
    now = int(stage.ports.clock.monotonic() * 1000)
    for _ in range(WRITES_PER_MINUTE):
        stage.door._conversations.rates.admit(caller.session, now, write=True)


def occupy(stage: Stage, caller: Agent, session: str = "ses_occupied0000", provider: str = "helper") -> None:
    """Have a session at work that counts as started by the caller."""
    prompt = {"id": f"msg_{session[4:]}", "origin": "agent", "text": "x", "created_at": 1}
    row = {"id": session, "title": "t", "provider": provider, "mode": "agent", "created_at": 1}
    row |= {"origin": "agent", "created_by": caller.session}
    stage.supervisor.tell(CreateSession(row, Prompt(prompt)))
    stage.settle()


CREATE: Final[list[tuple[Code, dict[str, Any], dict[str, Any], Fault | None]]] = [
    (Code.INVALID_INPUT, {"text": ""}, {}, None),
    (Code.RATE_LIMITED, {}, {}, spend),
    (Code.UNKNOWN, {"relay": "elsewhere"}, {}, None),
    (Code.LOCAL_DISABLED, {}, {"agent_sessions": False}, None),
    (Code.NESTED_SESSION, {}, {}, None),  # by who calls
    (Code.SESSION_LIMIT, {}, {"max_active_sessions": 1}, occupy),
    (Code.PROVIDER_UNAVAILABLE, {"provider": "command"}, {}, None),
    (Code.UNKNOWN_MODEL, {"model": "m"}, {}, None),
    (Code.UNKNOWN_GROUP, {"group": "nobody's"}, {}, None),
    (Code.INVALID_INPUT, {"cwd": "relative"}, {}, None),
]
NESTED: Final = 4


@pytest.mark.parametrize("mended", range(len(CREATE) + 1))
def test_of_all_that_is_wrong_with_a_create_the_first_gives_the_code(
    open_stage: OpenStage, mended: int
) -> None:
    wrong = CREATE[mended:]
    settings = {name: value for _, _, more, _ in wrong for name, value in more.items()}
    stage = open_to_agents(open_stage, **{**settings, "max_active_sessions": 2})
    caller = agent(stage)
    if mended <= NESTED:
        occupy(stage, caller, "ses_nested000000")
        caller = Agent(stage, "ses_nested000000")
    settings["unsafe_no_cards"] = not wrong
    stage.ports.in_force.now = stage.ports.settings.model_copy(update=settings)
    for _, _, _, prepare in wrong:
        if prepare is not None:
            prepare(stage, caller)
    before = stage.read("counts")["sessions"]
    arguments = {name: value for _, more, _, _ in reversed(wrong) for name, value in more.items()}
    result = caller.call("create_session", **{"text": "x", "wait_seconds": 0, **arguments})
    if wrong:
        assert result["code"] == wrong[0][0].value
        assert stage.read("counts")["sessions"] == before
    else:
        assert result["ok"]
    assert stage.read("inbox")["cards"] == [], "nothing that would be refused anyway shows a card"


def test_a_send_is_checked_for_its_target_before_the_limits_and_these_before_the_provider(
    open_stage: OpenStage,
) -> None:
    stage = open_to_agents(open_stage, max_active_sessions=1)
    caller = agent(stage)
    occupy(stage, caller)
    occupy(stage, caller, "ses_commands0000", "command")
    end_turn(stage, "ses_commands0000")

    def code(session: str) -> str | None:
        found: str | None = caller.call("send", session=session, text="x", model="m").get("code")
        return found

    assert code(caller.session) == Code.OWN_SESSION.value
    assert code("ses_zzzzzz") == Code.NOT_FOUND.value
    assert code("ses_commands0000") == Code.SESSION_LIMIT.value
    end_turn(stage, "ses_occupied0000")
    assert code("ses_commands0000") == Code.PROVIDER_UNAVAILABLE.value
    assert code("ses_occupied0000") == Code.UNKNOWN_MODEL.value
    stage.call("archive", session="ses_commands0000")
    assert code("ses_commands0000") == Code.NOT_FOUND.value


def test_a_repeat_gives_what_the_first_gave_though_it_would_be_refused_now(open_stage: OpenStage) -> None:
    stage = open_to_agents(open_stage, max_active_sessions=1)
    caller = agent(stage)
    first = caller.call("create_session", "one", text="x", wait_seconds=0)
    assert first["ok"]
    again = caller.call("create_session", "one", text="x", wait_seconds=0, relay="stage")
    assert (again["status"], again["session"], again["message_id"]) == (
        "duplicate",
        first["session"],
        first["message_id"],
    )
    assert caller.call("create_session", "one", text="y")["code"] == Code.INVALID_INPUT.value
    assert caller.call("create_session", "two", text="x")["code"] == Code.SESSION_LIMIT.value
    sent = caller.call("send", "three", session=first["session"], text="x", wait_seconds=0)
    end_turn(stage, first["session"])
    end_turn(stage, first["session"])
    stage.call("archive", session=first["session"])
    repeated = caller.call("send", "three", session=first["session"], text="x", wait_seconds=0)
    assert (repeated["status"], repeated["message_id"]) == ("duplicate", sent["message_id"])


def test_an_id_of_one_action_is_refused_for_another(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    assert stage.call("stop", "one", session=session)["ok"]
    for action, more in (("archive", {}), ("send", {"text": "x"})):
        assert stage.call(action, "one", session=session, **more)["code"] == Code.INVALID_INPUT.value


def test_an_id_of_a_reading_call_is_not_kept(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, _ = stage.create()
    for wait_seconds in (0, 1):
        assert stage.call("read_session", "one", session=session, last=1 + wait_seconds)["ok"]
