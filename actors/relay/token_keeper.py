"""Who has tokens stored and revoked while the relay runs."""

from collections.abc import Mapping
from shlex import quote
from typing import Any, Final, NamedTuple, get_args

from showcaller.actors.contract.errors import Code, Refusal, ambiguity, ambiguous
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.tokens import TokenKind
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.runtime import Actor, ActorRef
from showcaller.store.batch import Answer


class IssueToken(NamedTuple):
    """To the supervisor, and from it to the keeper: keep a token.

    The answer has its ``session``, which may be None, and whether it was ``repeated``: kept before already.
    """

    kind: TokenKind
    name: str
    hash: str
    replace: bool = False
    by_client: bool = False


class RevokeToken(NamedTuple):
    """Have a token let nobody in any more; the answer has its ``kind``, ``name`` and ``session``."""

    name: str
    kind: TokenKind | None


class NoteTokenUses(NamedTuple):
    """Store when tokens, by their hashes, were used last; the answer is None, or what the store said."""

    uses: Mapping[str, int]


_CONFLICTS: Final = frozenset({"token", "kind", "name", "hash", "revoked"})
ForTokens = IssueToken | RevokeToken | NoteTokenUses


class TokenKeeper(Actor):
    """Stores one change of the tokens after the other."""

    registered = False

    def __init__(self, ports: Ports, writer: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._writer = writer

    async def on_receive(self, message: ForTokens) -> Any:
        """Carry out one order; raises the refusal of a store that does not take it."""
        match message:
            case IssueToken(kind, name, token, replace, by_client):
                new = self._new(kind, name) | {"replace": replace, "by_client": by_client}
                return await self._stored("issue_token", hash=token, **new)
            case RevokeToken(name, kind):
                return await self._stored("revoke_token", name=name, kind=kind, at=self._ports.clock.wall())
            case NoteTokenUses(uses):
                return await self._stored("note_token_uses", uses=dict(uses))

    def _new(self, kind: TokenKind, name: str) -> dict[str, Any]:
        at = self._ports.clock.wall()
        session = {
            "id": self._ports.new_id("ses_"),
            "title": name,
            "provider": EXTERNAL,
            "mode": "agent",
            "origin": "owner",
            "created_at": at,
        }
        return {"kind": kind, "name": name, "at": at, "session": session}

    async def _stored(self, command: str, **arguments: Any) -> Any:
        answer: Answer = await written(self._writer, command, **arguments)
        if answer.error == "conflict" and answer.value in _CONFLICTS:
            raise _refused(answer, arguments)
        refusal = refusal_of(answer)
        if refusal is not None:
            raise refusal
        return answer.value


def _refused(answer: Answer, arguments: Mapping[str, Any]) -> Refusal:
    name = str(arguments["name"])
    if answer.value == "name":
        return Refusal(
            Code.INVALID_INPUT,
            f"Nothing was made: {answer.detail}, and another in its place would shut its holder out. Take "
            "another name, or replace it on purpose.",
            replaceable=True,
        )
    if answer.value == "revoked":
        return Refusal(
            Code.FORBIDDEN,
            f"Nothing was made: {answer.detail}, and its client gets no other until the owner of this relay "
            f"lets it in again: showcaller tokens new --name {quote(name)} --keep",
        )
    if answer.value == "hash":
        return Refusal(Code.INVALID_INPUT, f"Nothing was made: {answer.detail}; make another one.")
    if answer.value == "kind":
        kinds = list(get_args(TokenKind))
        error = f"{ambiguity(quote_foreign(name), 'tokens', 'its kind', kinds)} Nothing was revoked."
        return ambiguous(Code.INVALID_INPUT, error, kinds=kinds)
    return Refusal(
        Code.NOT_FOUND, f"Nothing was revoked: {answer.detail}. To see those there are: showcaller tokens"
    )
