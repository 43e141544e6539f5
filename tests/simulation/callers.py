"""What the callers of a simulated relay do, and what they may be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.books import Books, Broken, Prompted

PROMPTING = ("send", "create_session")
CARD_LIVES = 8 * 3600.0  # seconds for which a call may wait for its owner
SLACK = 400.0  # seconds that a call may take beyond what it waits: the store and the reader may be slow
NEVER = ("REMOTE_RELAY_INTERNAL",)
PERHAPS_STORED = "may be stored or not"


@dataclass(slots=True)
class Calling:
    """A call under way, and later its result."""

    number: int
    action: str
    arguments: dict[str, Any]
    client_id: str | None
    began: float
    agent: str | None = None  # the session whose agent calls; None for the owner
    is_repeat: bool = False
    asks_owner: bool = False  # what it writes waits for an approval
    at_work: set[str] = field(default_factory=set[str])  # turns of its session that a stop has to reach
    result: dict[str, Any] | None = None

    @property
    def deadline(self) -> float:
        """When it must have its answer at the latest."""
        waits = float(self.arguments.get("wait_seconds", 0)) + (CARD_LIVES if self.asks_owner else 0.0)
        return self.began + waits + SLACK

    @property
    def text(self) -> str:
        """The prompt that it sends."""
        return str(self.arguments.get("text", ""))


@dataclass
class Callers:
    """Their books: what they know of the relay, from its answers alone."""

    books: Books
    under_way: list[Calling] = field(default_factory=list["Calling"])
    ended: list[Calling] = field(default_factory=list["Calling"])
    sessions: list[str] = field(default_factory=list[str])
    messages: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    with_ids: list[Calling] = field(default_factory=list["Calling"])
    unknown: set[str] = field(default_factory=set[str])  # texts of calls whose answer never came
    answered_count: int = 0
    begun_at: dict[int, int] = field(default_factory=dict[int, int])

    def begin(self, calling: Calling) -> None:
        """A call begins; a prompt lets go on what a stop has held."""
        if calling.action == "send":
            self.books.held.discard(calling.arguments["session"])
        self.books.refused.pop(calling.text, None)
        if calling.action == "stop":
            calling.at_work = self.books.at_work(calling.arguments["session"])
        self.begun_at[calling.number] = self.answered_count
        self.under_way.append(calling)
        if calling.client_id is not None:
            self.with_ids.append(calling)

    def end(self, calling: Calling, result: Mapping[str, Any]) -> None:
        """A call has its answer; raises Broken when it may not have that one."""
        calling.result = dict(result)
        self.under_way.remove(calling)
        self.ended.append(calling)
        self.answered_count += 1
        if not result["ok"]:
            self._refused(calling, result)
        elif calling.action in PROMPTING:
            self._accepted(calling, result)
        elif calling.action == "wait" and "message_id" in result:
            self._see(calling, result)
        elif calling.action == "archive":
            self.books.archived.add(result["session"])
        elif calling.action == "stop" and not calling.is_repeat and not self.prompts(result["session"]):
            self.books.hold(result["session"], calling.at_work)

    def prompts(self, session: str) -> bool:
        """Whether a prompt for this session is under way, which may let its queue go on."""
        return any(call.arguments.get("session") == session for call in self.under_way)

    def lose(self) -> None:
        """The relay died: no answer will come to what is under way."""
        self.unknown |= {calling.text for calling in self.under_way}
        self.under_way.clear()

    def _refused(self, calling: Calling, result: Mapping[str, Any]) -> None:
        if result["code"] in NEVER:
            raise Broken(f"call {calling.number} was answered {result['code']}: {result['error']}")
        if calling.action not in PROMPTING:
            return
        others = [call for call in (*self.ended, *self.under_way) if call.text == calling.text]
        if len(others) > 1 or calling.text in self.unknown or _may_be_stored(result):
            self.unknown.add(calling.text)
        else:
            self.books.refused[calling.text] = f"{result['code']} {result['error']}"

    def _accepted(self, calling: Calling, result: Mapping[str, Any]) -> None:
        session, message = result["session"], result["message_id"]
        asked = calling.arguments.get("session")
        if asked is not None and asked != session:
            raise Broken(f"call {calling.number} sent to {asked}, and {session} took it")
        if session not in self.sessions:
            self.sessions.append(session)
        if calling.action == "create_session" and calling.agent is not None:
            self.books.started_by[session] = calling.agent
        self.messages.append((session, message))
        is_repeat = result["status"] == "duplicate"  # of a call whose answer may have been lost
        begun = -1 if is_repeat else self.begun_at[calling.number]
        self.books.acknowledge(Prompted(session, message, calling.text, begun, self.answered_count))
        if not is_repeat:
            self._see(calling, result)

    def _see(self, calling: Calling, result: Mapping[str, Any]) -> None:
        begun = self.begun_at[calling.number]
        self.books.see(result["message_id"], result, begun, self.answered_count)


def _may_be_stored(result: Mapping[str, Any]) -> bool:
    """Whether a prompt that was refused so may be stored all the same."""
    return PERHAPS_STORED in result["error"] or result["code"] == "REMOTE_RELAY_CANCELLED"
