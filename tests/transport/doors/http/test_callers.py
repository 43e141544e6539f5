"""Whom a token lets in, how often that is looked up and noted, and who tries too many wrong ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.agent_messages import AgentState
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.tokens import token_hash
from showcaller.actors.relay.agent_states import AgentStates
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.actors.runtime import Future
from showcaller.actors.runtime.testkit import ManualClock
from showcaller.transport.doors.agent_tokens import AgentTokens
from showcaller.transport.doors.http.callers import WRONG_PER_MINUTE, Callers
from showcaller.transport.doors.http.token import TokenCheck

OWNERS = "o" * 43
SCRIPTS = "sce_" + "s" * 43


class Stored:
    """Tokens in memory, in the place of the store's."""

    def __init__(self) -> None:
        row = {"kind": "external", "session": "ses_a", "expires_at": None, "revoked_at": None}
        self.rows: dict[str, dict[str, Any]] = {token_hash(SCRIPTS): row}
        self.looked_up = 0
        self.noted: list[Mapping[str, int]] = []
        self.agents = AgentStates()

    def find(self, digest: str) -> Future[Any]:
        self.looked_up += 1
        return done(self.rows.get(digest))

    def turn_goes_on(self, session: str, turn: str) -> Future[Any]:
        return done((session, turn) == ("ses_b", "msg_b"))

    def has_agent_of(self, session: str, turn: str) -> bool:
        return self.agents.has_environment_of(session, turn)

    def turn_under_way(self, session: str) -> Future[Any]:
        return done("msg_b" if session == "ses_b" else None)

    def note_uses(self, uses: Mapping[str, int]) -> Future[Any]:
        self.noted.append(uses)
        return done(None)


def done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set(value)
    return future


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def agents(tmp_path: Path) -> AgentTokens:
    return AgentTokens(tmp_path, OWNERS)


@pytest.fixture
def callers(stored: Stored, clock: ManualClock, agents: AgentTokens) -> Callers:
    return Callers(TokenCheck(OWNERS), stored, agents, clock)  # type: ignore[arg-type]


async def refused(callers: Callers, token: str) -> Code:
    with pytest.raises(Refusal) as refusal:
        await callers.caller_of(token)
    assert token not in refusal.value.error
    return refusal.value.code


async def test_a_token_is_looked_up_once_until_one_may_have_been_revoked(
    callers: Callers, stored: Stored
) -> None:
    for _ in range(3):
        assert await callers.caller_of(SCRIPTS) == Caller("external", "ses_a")
    assert stored.looked_up == 1
    stored.rows[token_hash(SCRIPTS)]["revoked_at"] = 1
    callers.forget()
    assert await refused(callers, SCRIPTS) is Code.UNAUTHENTICATED


async def test_uses_are_noted_at_most_once_a_minute(
    callers: Callers, stored: Stored, clock: ManualClock
) -> None:
    for _ in range(100):
        await callers.caller_of(SCRIPTS)
    assert len(stored.noted) == 1
    clock.move_to(60.0)
    await callers.caller_of(SCRIPTS)
    assert len(stored.noted) == 2


async def test_wrong_tokens_are_limited_and_right_ones_are_not(callers: Callers, clock: ManualClock) -> None:
    for _ in range(WRONG_PER_MINUTE):
        assert await refused(callers, "wrong") is Code.UNAUTHENTICATED
    assert await refused(callers, "sce_" + "x" * 43) is Code.RATE_LIMITED
    assert await callers.caller_of(OWNERS) is OWNER
    assert (await callers.caller_of(SCRIPTS)).session == "ses_a"
    clock.move_to(61.0)
    assert await refused(callers, "wrong") is Code.UNAUTHENTICATED


async def test_an_agent_is_let_in_while_its_turn_goes_on(callers: Callers, agents: AgentTokens) -> None:
    assert await callers.caller_of(agents.token("ses_b", "msg_b")) == Caller("agent", "ses_b", turn="msg_b")
    assert await refused(callers, agents.token("ses_b", "msg_a")) is Code.UNAUTHENTICATED


async def test_an_agent_is_let_in_while_the_process_lives_that_its_turn_has_started(
    callers: Callers, agents: AgentTokens, stored: Stored
) -> None:
    first, another = agents.token("ses_b", "msg_a"), agents.token("ses_b", "msg_0")
    stored.agents.note(AgentState(session="ses_b", state="alive", turn="msg_a"))
    assert await callers.caller_of(first) == Caller("agent", "ses_b", turn="msg_b")
    assert await refused(callers, another) is Code.UNAUTHENTICATED
    stored.agents.note(AgentState(session="ses_b", state="none", why="idle"))
    assert await refused(callers, first) is Code.UNAUTHENTICATED


async def test_another_relays_agent_is_nobody_here(callers: Callers, tmp_path: Path) -> None:
    theirs = AgentTokens(tmp_path, "p" * 43)
    assert await refused(callers, theirs.token("ses_b", "msg_b")) is Code.UNAUTHENTICATED
