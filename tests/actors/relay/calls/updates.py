"""Changes of settings on a stage, by the owner and by agents, and how sessions are then."""

from typing import Any, Final

from showcaller.actors.contract.groups import NewGroup
from showcaller.actors.contract.handshakes import Handshake
from showcaller.actors.contract.worker import RunTurn
from showcaller.actors.relay.calls import GroupRequest
from tests.actors.relay.calls.agents import Agent, end_turn
from tests.actors.relay.calls.approving import allow, approvals, others
from tests.actors.relay.stage import Stage

TOLD: Final = Handshake(command=("fake",), models=("gpt-5.4", "gpt-4"), efforts=("low", "high"), at=1)
"""What the assistant offers."""


def update(stage: Stage, session: str, id: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: A002
    """Have the owner change settings."""
    return stage.call("update_session", id, session=session, **more)


def begin(caller: Agent, session: str, **more: Any) -> Any:
    """Have an agent begin to change settings."""
    begun = caller.begin("update_session", session=session, **more)
    caller.stage.settle()
    return begun


def permitted(caller: Agent, session: str, **more: Any) -> dict[str, Any]:
    """Have an agent change settings, about which the owner is asked once and allows it."""
    begun = begin(caller, session, **more)
    allow(caller.stage)
    assert approvals(caller.stage) == []
    result: dict[str, Any] = begun.get()
    return result


def idle(stage: Stage, **more: Any) -> str:
    """Have the owner start a session whose turn has ended."""
    session, _ = others(stage, **more)
    end_turn(stage, session, agent_session="native")
    return session


def last_run(stage: Stage) -> RunTurn:
    """What a worker was given last."""
    return stage.workers.runs[-1]


def row(stage: Stage, session: str) -> dict[str, Any]:
    """A session as it is stored."""
    found: dict[str, Any] = stage.read("load_session", session=session)
    return found


def owners_group(stage: Stage, name: str) -> str:
    """Have the owner make a group; gives its id."""
    begun = stage.door._request(GroupRequest(NewGroup(title=name)))
    stage.settle()
    group: str = begun.get()["group"]
    return group


def folder(stage: Stage, name: str = "elsewhere") -> str:
    """Make a folder below that of the relay."""
    made = stage.home / name
    made.mkdir(exist_ok=True)
    return str(made.resolve())
