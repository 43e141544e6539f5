"""What one call goes by: who makes it, on which relay, and how it reads and asks."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.actors.contract.settings import Settings
from showcaller.actors.relay import views
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.calls.caller import Caller
from showcaller.actors.relay.calls.conversations import Conversations
from showcaller.actors.relay.calls.external_calls import ExternalCall
from showcaller.actors.relay.consent.card_text import Shown
from showcaller.actors.relay.ports import Ports
from showcaller.actors.runtime import ActorRef, Future

Row = dict[str, Any]
"""A row of the store as a query gives it."""


def _nothing() -> None:
    pass


@dataclass(slots=True)
class CallContext:
    """One call under way; used by its actor alone.

    ``relay`` is this relay's name, ``relay_id`` what its store knows it by; ``notes`` gather sentences for
    the result; ``client_id`` is the checked id of a write, if it came with one; ``started`` is called once
    the session that the call sets to work shows in the store, or nothing comes of it. A new session continues
    the agent's conversation ``resume``, if the owner names one. A call of an
    ``external`` conversation ``gets_messages`` once it has passed the first checks: ``collected`` are those
    in its answer, and ``left`` is how many more wait. ``approved`` is what the owner has allowed, as the card
    showed it.
    """

    ports: Ports
    supervisor: ActorRef[Any]
    conversations: Conversations
    caller: Caller
    relay: str
    relay_id: str
    client_id: str | None = None
    notes: list[str] = field(default_factory=list)
    started: Callable[[], None] = _nothing
    resume: str | None = None
    external: ExternalCall | None = None
    gets_messages: bool = False
    collected: list[Row] = field(default_factory=list[Row])
    left: int = 0
    approved: Shown | None = None
    _own_row: Row | None = None
    _first_notes: int = 0

    def __post_init__(self) -> None:
        """Remember which notes the call came with."""
        self._first_notes = len(self.notes)

    def check_anew(self) -> None:
        """Forget what the checks have found so far, before they are gone through again."""
        self._own_row = None
        del self.notes[self._first_notes :]

    @property
    def settings(self) -> Settings:
        """The owner's settings of this relay."""
        return self.ports.settings

    def read(self, query: str, /, **arguments: Any) -> "Future[Any]":
        """Run a query of the store."""
        return read(self.ports.reader, query, **arguments)

    def ask(self, message: Any, timeout: float | None = None) -> "Future[Any]":
        """Ask the supervisor; raises ``Timeout`` after ``timeout`` seconds, if any are given."""
        return self.supervisor.request(message, timeout=timeout)

    def as_it_is(self, row: Row) -> Row:
        """Give a session's row as it is now: what a relay that has gone had under way is cut.

        ``calls`` says of an external conversation that its turn runs.
        """
        row = row if self.ports.relay_runs() else views.as_cut(row)
        return {**row, "calls": True} if self.conversations.external.runs(row["id"]) else row

    async def own_row(self) -> Row | None:
        """Give the row of the calling agent's session; None for the owner.

        Raises ``Refusal`` when there is no such session any more, or it was archived under its client.
        """
        if self.caller.agent is None:
            return None
        if self._own_row is None:
            self._own_row = await self.read("load_session", session=self.caller.agent)
        row = self._own_row
        if row is None or row["deleted_at"] is not None:
            raise Refusal(Code.UNAUTHENTICATED, "The session that this call comes from does not exist.")
        if self.caller.kind == "external":
            _check_external(row)
        return row


def _renewal(name: str) -> str:
    return shlex.join(["showcaller", "tokens", "new", "--name", name, "--keep"])


def _check_external(row: Row) -> None:
    if row["provider"] != EXTERNAL:
        raise Refusal(
            Code.UNAUTHENTICATED, "This token is bound to a session that the relay runs: it needs a new one."
        )
    if row["archived_at"] is not None:
        raise Refusal(
            Code.NOT_FOUND,
            "Your conversation was archived, so its token is of no use any more. The owner of this relay "
            f"gives its name another conversation with: {_renewal(row['title'])} (for showcaller call and "
            "mcp; any other client needs the token that this writes without --keep).",
            missing=[row["id"]],
        )
