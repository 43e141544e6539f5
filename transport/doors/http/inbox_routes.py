"""The owner's inbox over HTTP: what waits for an answer, and the answers."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.inbox import Answer, AnswerResult, Inbox, InboxResult
from showcaller.actors.contract.limits import CALL_BYTES, CHOICES, INBOX_ITEMS, TEXT_CHARACTERS
from showcaller.actors.contract.outside import read_request
from showcaller.transport.doors.http.bodies import idempotency_key, read_model
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.http.watch_routes import query_of
from showcaller.transport.doors.local import LocalDoor


class AnswerBody(BaseModel):
    """The answer to a card: labels of its options, a text or both; or that there will be none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    choices: list[str] = Field(default=[], max_length=CHOICES)
    answer: str | None = Field(default=None, max_length=TEXT_CHARACTERS)
    dismiss: bool = False


class InboxRoutes:
    """The paths of the inbox."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("GET", "/api/inbox", self.inbox, _INBOX),
            Path("POST", "/api/cards/{card}/answer", self.answer, _ANSWER),
        ]

    async def inbox(self, request: Request) -> Response:
        """List what waits for an answer, newest first."""
        asked = read_request(Inbox, query_of(request))
        return result_reply(await self._door.watch_async(asked))

    async def answer(self, request: Request) -> Response:
        """Answer a card, or dismiss it."""
        body = await read_model(request, CALL_BYTES, AnswerBody)
        given: dict[str, Any] = {**body.model_dump(), "question_id": request.path_params["card"]}
        answer = read_request(Answer, given)
        return result_reply(await self._door.answer_async(answer, id=idempotency_key(request)))


_INBOX: Final = Operation(
    "List what waits for an answer, newest first.",
    gives=InboxResult,
    query={
        "limit": {"type": "integer", "minimum": 1, "maximum": INBOX_ITEMS, "default": 100},
        "cursor": {**TEXT, "maxLength": 1000},
    },
)
_ANSWER: Final = Operation(
    "Answer a card, or dismiss it; the first answer counts.",
    takes=AnswerBody,
    gives=AnswerResult,
    path={"card": {**TEXT, "maxLength": 64}},
    once=True,
    codes=(Code.ALREADY_ANSWERED,),
)
