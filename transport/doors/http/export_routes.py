"""Conversations written out over HTTP, streamed from the store as they are read."""

from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from showcaller.transport.doors.export.transcript import FORMS, form_of
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.replies import HEADERS
from showcaller.transport.doors.local import LocalDoor

_ALONE: Final = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
_EXPORT: Final = Operation(
    "Write a whole conversation out: head, turns, replies and tasks; its agent is not woken.",
    gives=TEXT,
    path={"session": TEXT},
    query={"format": {"type": "string", "enum": list(FORMS), "default": "md"}},
    media=tuple(form().media_type.partition(";")[0] for form in FORMS.values()),
)


class ExportRoutes:
    """The path of exports."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [Path("GET", "/api/sessions/{session}/export", self.export, _EXPORT)]

    async def export(self, request: Request) -> Response:
        """Write a conversation out in the format that the query names."""
        named = request.query_params.get("format", "md")
        media = form_of(named).media_type
        pieces = self._door.export_async(request.path_params["session"], named)
        first = await anext(pieces)  # what is refused is refused before the first byte
        return StreamingResponse(_all(first, pieces), 200, HEADERS | _ALONE, media)


async def _all(first: str, pieces: AsyncIterator[str]) -> AsyncIterator[bytes]:
    yield first.encode()
    async for piece in pieces:
        yield piece.encode()
