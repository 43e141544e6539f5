"""Who holds a token: the owner, a client that has one of the store's, or the agent of a turn that goes on."""

import logging
from collections import deque
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.token_names import PREFIXES
from showcaller.actors.contract.tokens import token_hash
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.runtime import Clock, Future
from showcaller.transport.doors.agent_tokens import PREFIX, AgentTokens
from showcaller.transport.doors.http.open_requests import OpenRequests
from showcaller.transport.doors.http.token import TokenCheck
from showcaller.transport.doors.local_tokens import LocalTokens

WRONG_PER_MINUTE: Final = 30
"""Tokens that let nobody in, in a sliding minute, until whoever tries more is told to wait."""
WINDOW: Final = 60.0
NOTED_EVERY: Final = 60.0
"""Seconds between two notes of which tokens were used."""
MOST_KNOWN: Final = 1024

UNKNOWN: Final = (
    "This token lets nobody in here. The owner's is in the file 'token' of the data folder; one for another "
    "client is made by: showcaller tokens new"
)
REVOKED: Final = (
    "This token was revoked, or another was made in its place: have one made by: showcaller tokens new"
)
ENDED: Final = (
    "The agent process that this token belongs to has ended, and its token with it: only what runs in the "
    "turn that got it, or the agent that was started with it, may use it."
)

logger = logging.getLogger("showcaller.http")


class _Known(NamedTuple):
    """What was found of a token, and until when it counts, in milliseconds since the epoch."""

    caller: Caller
    expires_at: int | None


class Callers:
    """Tells callers by their tokens. Used on one asyncio loop; it keeps hashes only."""

    def __init__(self, owner: TokenCheck, tokens: LocalTokens, agents: AgentTokens, clock: Clock) -> None:
        self._owner = owner
        self._tokens = tokens
        self._agents = agents
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._generation = 0
        self._wrong: deque[float] = deque(maxlen=WRONG_PER_MINUTE)
        self._uses: dict[str, int] = {}
        self._noted: float | None = None
        self._noting: Future[None] | None = None
        self.open_requests = OpenRequests()

    def shut_out(self, session: str | None) -> None:
        """A token was revoked: it lets nobody in any more, and what is under way with it ends.

        ``session`` is the conversation that belongs to it.
        """
        self.forget()
        self.open_requests.end(session, Refusal(Code.UNAUTHENTICATED, REVOKED))

    async def caller_of(self, token: str) -> Caller:
        """Give who holds this token; raises ``Refusal`` for one that lets nobody in."""
        if self._owner.is_owner(token):
            return OWNER
        try:
            if token.startswith(PREFIX):
                return await self._agent(token)
            if token.startswith(tuple(PREFIXES.values())):
                return await self._client(token)
            raise Refusal(Code.UNAUTHENTICATED, UNKNOWN)
        except Refusal as refusal:
            if refusal.code is Code.UNAUTHENTICATED:
                self._count_wrong()
            raise

    def forget(self) -> None:
        """Look every token up again: one may have been revoked."""
        self._generation += 1
        self._known.clear()

    async def settle(self) -> None:
        """Have all uses noted; raises ``Refusal``."""
        self._note()
        if self._noting is not None:
            await _answer(self._noting)

    async def _agent(self, token: str) -> Caller:
        turn = self._agents.read(token)
        if turn is None:
            raise Refusal(Code.UNAUTHENTICATED, UNKNOWN)
        if await _answer(self._tokens.turn_goes_on(turn.session, turn.turn)):
            return Caller("agent", turn.session, turn=turn.turn)
        if not self._tokens.has_agent_of(turn.session, turn.turn):
            raise Refusal(Code.UNAUTHENTICATED, ENDED)
        # A process that stays between turns has the token of the turn that it was started with.
        return Caller("agent", turn.session, turn=await _answer(self._tokens.turn_under_way(turn.session)))

    async def _client(self, token: str) -> Caller:
        digest = token_hash(token)
        known = self._known.get(digest)
        if known is None:
            known = await self._looked_up(digest)
        if known.expires_at is not None and known.expires_at <= self._clock.wall():
            raise Refusal(Code.UNAUTHENTICATED, REVOKED.replace("was revoked", "has expired"))
        self._used(digest)
        return known.caller

    async def _looked_up(self, digest: str) -> _Known:
        generation = self._generation
        row = await _answer(self._tokens.find(digest))
        if row is None:
            raise Refusal(Code.UNAUTHENTICATED, UNKNOWN)
        if row["revoked_at"] is not None:
            raise Refusal(Code.UNAUTHENTICATED, REVOKED)
        supervises = row["kind"] == "supervisor"
        known = _Known(Caller("external", row["session"], supervises), row["expires_at"])
        if generation == self._generation:  # else it may have been revoked after it was read
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[digest] = known
        return known

    def _used(self, digest: str) -> None:
        self._uses[digest] = self._clock.wall()
        now = self._clock.monotonic()
        if self._noted is None or now - self._noted >= NOTED_EVERY:
            self._noted = now
            self._note()

    def _note(self) -> None:
        """Begin to store the uses; the keeper takes one note after the other, so the last one ends last."""
        uses, self._uses = self._uses, {}
        if uses:
            self._noting = self._tokens.note_uses(uses)
            self._noting.add_done_callback(_log_failure)

    def _count_wrong(self) -> None:
        """Note a wrong token; raises ``Refusal`` when there were too many."""
        now = self._clock.monotonic()
        if len(self._wrong) == WRONG_PER_MINUTE and (wait := self._wrong[0] + WINDOW - now) > 0:
            seconds = max(1, -int(-wait // 1))
            raise Refusal(
                Code.RATE_LIMITED,
                f"Too many wrong tokens were tried: try again in {seconds} s. Right ones are taken.",
                retry_after_seconds=seconds,
            )
        self._wrong.append(now)


async def _answer(future: Future[Any]) -> Any:
    try:
        return await future
    except Exception as error:
        raise refusal_for(error) from error


def _log_failure(noted: Future[None]) -> None:
    error = noted.error
    if error is not None:
        logger.warning("When tokens were used last is not stored: %s", error)
