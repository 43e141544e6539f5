"""The tools that an MCP client with a supervisor's token has besides."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

from pydantic import Field

from showcaller.actors.contract.arguments import SessionName
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.outside import Events, Monitor, Output, OutsideRequest, read_request
from showcaller.actors.relay.calls import Caller
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.doors.watching import watch_in_pieces

AGAIN: Final = "Nothing happened so far; call again with since = next to go on waiting."


class Restart(OutsideRequest):
    """Go on with a session in a new process of its agent."""

    name: ClassVar[str] = "session_restart"

    session: SessionName = Field(description="The id of the session.")


class Asking(NamedTuple):
    """Who asks, by which door; ``now`` gives seconds of a steady clock, ``most`` bounds how long it waits."""

    door: LocalDoor
    caller: Caller
    now: Callable[[], float]
    most: float | None = None


Run = Callable[[Asking, dict[str, Any]], Awaitable[dict[str, Any]]]


class SupervisorTool(NamedTuple):
    """A tool: its name, what an agent reads of it, the schema of its arguments, and what carries it out."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Run


async def _monitor(asking: Asking, arguments: dict[str, Any]) -> dict[str, Any]:
    asked = read_request(Monitor, arguments)
    answer = await watch_in_pieces(asking.door, asked, asking.caller, asking.now, most=asking.most)
    cut = asking.most is not None and asked.timeout > asking.most and answer.get("timedOut")
    return {**answer, "note": AGAIN} if cut else answer


async def _events(asking: Asking, arguments: dict[str, Any]) -> dict[str, Any]:
    return await asking.door.watch_async(read_request(Events, arguments), asking.caller)


async def _output(asking: Asking, arguments: dict[str, Any]) -> dict[str, Any]:
    asked = read_request(Output, arguments)
    return await watch_in_pieces(asking.door, asked, asking.caller, asking.now, most=asking.most)


async def _restart(asking: Asking, arguments: dict[str, Any]) -> dict[str, Any]:
    return await asking.door.act_async("restart", read_request(Restart, arguments).session)


def _tool(model: type[OutsideRequest], more: str, run: Run) -> SupervisorTool:
    schema = model.model_json_schema()
    said = schema.pop("description").split("\n")[0]
    schema.pop("title")
    return SupervisorTool(model.name, f"{said} {more}", schema, run)


TOOLS: Final[Mapping[str, SupervisorTool]] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            _tool(
                Monitor,
                "Gives fired (what happened after since), pending (what is still to come), and next, the "
                "cursor for the next call: nothing is lost between two calls that hand it on.",
                _monitor,
            ),
            _tool(Events, "Gives events and next; with more there is another page.", _events),
            _tool(Output, "Gives lines and next, the cursor for the lines after them.", _output),
            _tool(Restart, "Says which way (resumedVia); not for sessions that run a command.", _restart),
        )
    }
)
"""Every tool by its name."""


async def call_supervisor_tool(name: str, asking: Asking, arguments: dict[str, Any]) -> dict[str, Any]:
    """Carry out one of ``TOOLS`` and give its result; a refusal is a result too."""
    try:
        return await TOOLS[name].run(asking, arguments)
    except Refusal as refusal:
        return refusal.to_result()
