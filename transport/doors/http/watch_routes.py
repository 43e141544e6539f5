"""Watching from outside over HTTP: monitors, the log of events, lines of output, and a stream of events."""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.outside import (
    Events,
    EventsResult,
    Monitor,
    MonitorResult,
    Output,
    OutputResult,
    read_request,
)
from showcaller.transport.doors.http.audience import caller_of
from showcaller.transport.doors.http.bodies import read_object
from showcaller.transport.doors.http.event_stream import FOR_THE_OWNER, MOST_STREAMS, EventStream
from showcaller.transport.doors.http.operations import TEXT, Operation, Path, Schema
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.doors.watching import watch_in_pieces

MONITOR_BYTES: Final = 64 * 1024

_NUMBER: Final[Schema] = {"type": "integer", "minimum": 0}
_MONITOR: Final = Operation(
    "Wait until something happens in sessions; tell all that fired and all that is pending.",
    takes=Monitor,
    gives=MonitorResult,
)
_EVENTS: Final = Operation(
    "Give a page of the log of events.", gives=EventsResult, query={"since": _NUMBER, "limit": _NUMBER}
)
_OUTPUT: Final = Operation(
    "Give lines that a session's agent has written, after a cursor or the last ones.",
    gives=OutputResult,
    path={"session": TEXT},
    query={"since": TEXT, "last": _NUMBER, "wait": {"type": "number", "minimum": 0}},
)
_STREAM: Final = Operation(
    "Stream events as they happen, each with its cursor as id, by which Last-Event-ID goes on.",
    gives=TEXT,
    query={"since": _NUMBER},
    media="text/event-stream",
    codes=(Code.RATE_LIMITED,),
    streams=True,
)


class WatchRoutes:
    """The paths for the owner and for who has a supervisor's token."""

    def __init__(self, door: LocalDoor, now: Callable[[], float]) -> None:
        """``now`` gives seconds of a steady clock."""
        self._door = door
        self._now = now
        self._streams: set[EventStream] = set()
        self._beginning = 0  # streams that are not open yet

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("POST", "/api/monitor", self.monitor, _MONITOR),
            Path("GET", "/api/events", self.events, _EVENTS),
            Path("GET", "/api/events/stream", self.stream, _STREAM),
            Path("GET", "/api/sessions/{session}/output", self.output, _OUTPUT),
        ]

    async def monitor(self, request: Request) -> Response:
        """Wait for what happens, for as long as somebody is there to hear of it."""
        asked = read_request(Monitor, await read_object(request, MONITOR_BYTES))
        return await self._watched(request, asked)

    async def events(self, request: Request) -> Response:
        """Give a page of the log."""
        asked = read_request(Events, query_of(request))
        return result_reply(await self._door.watch_async(asked, caller_of(request)))

    async def output(self, request: Request) -> Response:
        """Give lines of a session's output."""
        asked = read_request(Output, {**query_of(request), "session": request.path_params["session"]})
        return await self._watched(request, asked)

    async def stream(self, request: Request) -> Response:
        """Stream what happens from now on, or from a cursor on."""
        given = query_of(request)
        last = request.headers.get("last-event-id")
        if last is not None:  # who comes back with the address that it came with first
            given["since"] = last
        asked = read_request(Events, given)
        since = asked.since if given.get("since") else None
        most = MOST_STREAMS if caller_of(request).kind == "owner" else MOST_STREAMS - FOR_THE_OWNER
        if len(self._streams) + self._beginning >= most:
            raise Refusal(
                Code.RATE_LIMITED,
                f"{most} streams of events are open already: close one of them first.",
                retry_after_seconds=60,
            )
        self._beginning += 1
        try:
            page = await self._door.watch_async(
                Monitor(timeout=0) if since is None else Events(since=since, limit=1), caller_of(request)
            )
            if not page["ok"]:
                return result_reply(page)
            return EventStream(self._door, page["next"] if since is None else since, self._streams)
        finally:
            self._beginning -= 1

    async def _watched(self, request: Request, asked: Monitor | Output) -> Response:
        caller = caller_of(request)
        return result_reply(
            await watch_in_pieces(self._door, asked, caller, self._now, is_gone=request.is_disconnected)
        )


def query_of(request: Request) -> dict[str, JsonValue]:
    """Give what stands in the query of a request; raises ``Refusal`` for a name that is there twice."""
    given = request.query_params.multi_items()
    twice = [name for name, _ in given if len(request.query_params.getlist(name)) > 1]
    if twice:
        raise invalid(f"The query has {twice[0][:40]!a} twice: give it once.")
    return dict(given)
