"""Tokens as the owner makes, lists and revokes them, and as a door that listens looks them up."""

from collections.abc import Callable, Mapping
from secrets import token_urlsafe
from typing import Any

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.token_names import PREFIXES, RANDOM_BYTES
from showcaller.actors.contract.tokens import NewToken, TokenToRevoke, token_hash
from showcaller.actors.relay.agent_states import AgentStates
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.ports import ReaderPort
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.relay.token_keeper import IssueToken, NoteTokenUses, RevokeToken
from showcaller.actors.runtime import ActorDeadError, ActorRef, Future


class LocalTokens:
    """The tokens of a relay in this process. Thread-safe; what gives a future raises ``Refusal`` from it.

    A token leaves this process once, in the answer to who made it: what is stored is its hash.
    """

    def __init__(
        self,
        supervisor: ActorRef[Any],
        reader: ReaderPort,
        agents: AgentStates,
        check_open: Callable[[], None],
    ) -> None:
        """``check_open`` raises ``Refusal`` when the relay takes no more."""
        self._agents = agents
        self._supervisor = supervisor
        self._reader = reader
        self._check_open = check_open

    def issue(self, wanted: NewToken) -> Future[dict[str, Any]]:
        """Make a token; one of its kind and name that is in force is revoked with ``replace``, else refused.

        None is made ``by_client`` where the last of its name was revoked.

        Gives ``token``, ``kind``, ``name`` and ``session``: the conversation that an external one speaks for,
        which is the same as before. ``token`` is None where its hash was given: whoever gave it has it. And
        ``repeated``, which says that this very token was made before.
        """
        token, digest = None, wanted.hash
        if digest is None:
            token = PREFIXES[wanted.kind] + token_urlsafe(RANDOM_BYTES)
            digest = token_hash(token)
        issued = self._ask(IssueToken(wanted.kind, wanted.name, digest, wanted.replace, wanted.by_client))
        return issued.map(lambda stored: {"token": token, "kind": wanted.kind, "name": wanted.name, **stored})

    def revoke(self, which: TokenToRevoke) -> Future[dict[str, Any]]:
        """Have a token let nobody in any more; gives its ``kind``, ``name`` and ``session``."""
        return self._ask(RevokeToken(which.name, which.kind))

    def note_uses(self, uses: Mapping[str, int]) -> Future[None]:
        """Store when tokens, by their hashes, were used last."""
        return self._ask(NoteTokenUses(uses))

    def listed(self) -> Future[list[dict[str, Any]]]:
        """List what is stored of all tokens but their hashes, newest first; times are in milliseconds."""
        return self._read("tokens")

    def find(self, digest: str) -> Future[dict[str, Any] | None]:
        """Give what is stored of a token, by its hash: ``kind``, ``name``, ``session``, ``expires_at``…"""
        return self._read("token", hash=digest)

    def has_agent_of(self, session: str, turn: str) -> bool:
        """Tell whether an agent process of this session is there that was started with this turn."""
        return self._agents.has_environment_of(session, turn)

    def turn_under_way(self, session: str) -> Future[str | None]:
        """Give the turn of this session that is with a worker; None without one."""
        return self._read("turn_under_way", session=session)

    def turn_goes_on(self, session: str, turn: str) -> Future[bool]:
        """Tell whether a worker has this turn of a session, or a background task of it runs."""
        return self._read("turn_goes_on", session=session, turn=turn)

    def _ask(self, message: Any) -> Future[Any]:
        try:
            self._check_open()
            return self._supervisor.request(message)
        except (Refusal, ActorDeadError) as error:
            return _failed(error)

    def _read(self, query: str, **arguments: Any) -> Future[Any]:
        try:
            self._check_open()
            return read(self._reader, query, **arguments)
        except (Refusal, ActorDeadError) as error:
            return _failed(error)


def _failed(error: Exception) -> Future[Any]:
    failed: Future[Any] = Future()
    failed.set_exception(refusal_for(error))
    return failed
