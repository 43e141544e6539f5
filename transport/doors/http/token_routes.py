"""Tokens over HTTP: made, listed and revoked by their owner."""

from typing import Any, Final, Literal

from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.tokens import NewToken, TokenKind, TokenState, TokenToRevoke
from showcaller.actors.contract.views import Moment, ResultModel
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.runtime import Future
from showcaller.transport.doors.http.bodies import SMALL_BYTES, read_model
from showcaller.transport.doors.http.callers import Callers
from showcaller.transport.doors.http.operations import Operation, Path
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.local_tokens import LocalTokens


class TokenView(ResultModel):
    """A token, without anything that would let somebody in."""

    kind: TokenKind
    name: str
    state: TokenState
    session: str | None = None
    created_at: Moment
    used_at: Moment | None = None
    revoked_at: Moment | None = None


class TokensAnswer(ResultModel):
    """All tokens, newest first."""

    ok: Literal[True] = True
    tokens: list[TokenView]


class TokenMade(ResultModel):
    """A new token, and the conversation that it speaks for, if any.

    ``token`` is told this once, and not to who has made it and gave its hash.
    """

    ok: Literal[True] = True
    token: str | None = None
    kind: TokenKind
    name: str
    session: str | None = None


class TokenRevoked(ResultModel):
    """The token that lets nobody in any more."""

    ok: Literal[True] = True
    kind: TokenKind
    name: str
    session: str | None = None


class TokenRoutes:
    """The paths below ``/api/tokens``."""

    def __init__(self, tokens: LocalTokens, callers: Callers) -> None:
        self._tokens = tokens
        self._callers = callers

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("GET", "/api/tokens", self.list_tokens, _LIST),
            Path("POST", "/api/tokens", self.issue_token, _ISSUE),
            Path("POST", "/api/tokens/revoke", self.revoke_token, _REVOKE),
        ]

    async def list_tokens(self, request: Request) -> Response:
        """List the tokens."""
        del request
        await self._callers.settle()
        return _reply(TokensAnswer(tokens=await _answer(self._tokens.listed())))

    async def issue_token(self, request: Request) -> Response:
        """Make a token.

        One of its kind and name that is in force stays, and this is refused, unless it is to be replaced.
        Nothing but hashes is kept, so what was lost cannot be given again: who asks for it to be replaced
        gets another one for the same conversation, and the one before lets nobody in any more. Who makes the
        token, and gives its hash, can ask again after a lost answer.
        """
        wanted = await read_model(request, SMALL_BYTES, NewToken)
        try:
            issued = await _answer(self._tokens.issue(wanted))
        finally:
            self._callers.forget()
        made = TokenMade(**{name: issued[name] for name in ("token", "kind", "name", "session")})
        if not issued["repeated"]:
            self._callers.shut_out(made.session)
        return _reply(made)

    async def revoke_token(self, request: Request) -> Response:
        """Have a token let nobody in any more."""
        which = await read_model(request, SMALL_BYTES, TokenToRevoke)
        try:
            revoked = TokenRevoked(**await _answer(self._tokens.revoke(which)))
        finally:
            self._callers.forget()
        self._callers.shut_out(revoked.session)
        return _reply(revoked)


def _reply(answer: ResultModel) -> Response:
    return result_reply(answer.model_dump(mode="json", by_alias=True))


async def _answer(future: Future[Any]) -> Any:
    try:
        return await future
    except Exception as error:
        raise refusal_for(error) from error


_LIST: Final = Operation("List the tokens, newest first, without what would let anybody in.", TokensAnswer)
_ISSUE: Final = Operation(
    "Make a token; an external one has a conversation. One of the kind and name that is in force is "
    "replaced only when that is asked for. With the hash of a token that you have made and kept (sce_… or "
    "scs_…), the same request again makes nothing new.",
    takes=NewToken,
    gives=TokenMade,
)
_REVOKE: Final = Operation(
    "Have a token let nobody in any more.", takes=TokenToRevoke, gives=TokenRevoked, codes=(Code.NOT_FOUND,)
)
