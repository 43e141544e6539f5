"""The books of whoever watches a relay from outside: what it acknowledged, handed over and was told.

They are kept without looking into the relay or its store, and every promise that can be seen to be broken
while it happens is checked here; the rest is compared with the store by ``promises.py``.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from showcaller.actors.contract.worker import RunTurn, SteerTurn, TaskEnded, TaskStarted, TurnEnded
from tests.simulation.card_books import CardBooks

ENDED = ("done", "failed", "stopped", "cancelled")


class Broken(AssertionError):
    """A promise of the relay was broken."""


class Prompted(NamedTuple):
    """A prompt that was acknowledged; ``begun`` and ``answered`` count the calls' beginnings and ends."""

    session: str
    message: str
    text: str
    begun: int
    answered: int


@dataclass(slots=True)
class Steer:
    """A message that was given to an agent within a turn, and what the agent made of it."""

    turn: str
    outcome: Literal["asked", "taken", "refused"]


@dataclass
class Books:
    """Everything that was promised, from the first start of the relay to the last."""

    acknowledged: dict[str, Prompted] = field(default_factory=dict[str, Prompted])
    refused: dict[str, str] = field(default_factory=dict[str, str])  # texts, with the code
    runs: dict[str, RunTurn] = field(default_factory=dict[str, RunTurn])
    steers: dict[str, Steer] = field(default_factory=dict[str, Steer])
    back: set[str] = field(default_factory=set[str])  # messages that left the queue and wait there again
    given_in: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[str, TurnEnded] = field(default_factory=dict[str, TurnEnded])
    tasks: dict[tuple[str, str], TaskStarted] = field(default_factory=dict[tuple[str, str], TaskStarted])
    task_ends: dict[tuple[str, str], TaskEnded] = field(default_factory=dict[tuple[str, str], TaskEnded])
    excused: set[str] = field(default_factory=set[str])  # turns that something cut
    excused_tasks: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    started_by: dict[str, str] = field(default_factory=dict[str, str])  # sessions, by the agents that did
    cut_groups: set[str] = field(default_factory=set[str])  # fan-outs that were stopped or failed
    held: set[str] = field(default_factory=set[str])  # sessions whose queue a stop holds
    stopped: set[str] = field(default_factory=set[str])  # turns that a worker was told to stop
    stops_due: set[str] = field(default_factory=set[str])  # turns whose stop is on its way there
    archived: set[str] = field(default_factory=set[str])
    deleted: set[str] = field(default_factory=set[str])
    being_deleted: set[str] = field(default_factory=set[str])  # the answer is still to come
    seen: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    seen_at: dict[str, int] = field(default_factory=dict[str, int])  # how many answers there were by then
    is_slow: bool = False  # what workers say may be on its way for longer than a relay waits for it
    cards: CardBooks = field(default_factory=CardBooks)
    broken: list[str] = field(default_factory=list[str])  # seen where nothing can be raised

    # -- what workers get and tell -----------------------------------------------------------------

    def sent(self, run: RunTurn) -> None:
        """The relay sends a prompt: if a stop holds its session by then, that has to follow at once."""
        if run.session in self.held:
            self.stops_due.add(run.turn)
        if run.session in self.archived | self.deleted:
            self.broken.append(f"{run.turn} was sent to a worker although {run.session} is put away")

    def at_work(self, session: str) -> set[str]:
        """The session's turns that a worker has, and was not told to stop."""
        over = self.stopped | self.ends.keys() | self.excused
        return {turn for turn, run in self.runs.items() if run.session == session} - over

    def hold(self, session: str, at_work: set[str]) -> None:
        """A stop was answered that began when these were at work: they are told to stop, and none begins."""
        self.held.add(session)
        self.stops_due |= at_work & self.at_work(session)

    def stop(self, turn: str) -> None:
        """The relay sends a stop."""
        self.stopped.add(turn)
        self.stops_due.discard(turn)

    def handed(self, run: RunTurn, working: Mapping[str, str]) -> None:
        """A worker gets a prompt; ``working`` are its sessions at work, with their turns."""
        if run.turn in self.runs:
            raise Broken(f"{run.turn} was handed over twice")
        if run.session in working:
            raise Broken(f"{run.turn} was handed over while {working[run.session]} of its session runs")
        steer = self.steers.get(run.turn)
        if steer is not None and steer.outcome != "refused":
            raise Broken(f"{run.turn} was handed over, and given to an agent before: {steer}")
        self.runs[run.turn] = run
        self.given_in[run.session].append(run.turn)

    def shown(self, steer: SteerTurn) -> None:
        """An agent gets a message within a turn."""
        before = self.steers.get(steer.message)
        if steer.message in self.runs or (before is not None and before.outcome != "refused"):
            raise Broken(f"{steer.message} was given to its agent twice")
        self.steers[steer.message] = Steer(steer.turn, "asked")

    def steered(self, steer: SteerTurn, *, taken: bool) -> None:
        """An agent has taken such a message, or not."""
        self.steers[steer.message] = Steer(steer.turn, "taken" if taken else "refused")
        if taken:
            self.given_in[steer.session].append(steer.message)

    def told_end(self, end: TurnEnded) -> None:
        """A worker says how a turn ended."""
        self.ends[end.turn] = end
        self.stops_due.discard(end.turn)

    # -- what callers are told ---------------------------------------------------------------------

    def acknowledge(self, prompted: Prompted) -> None:
        """A caller was told that its prompt is stored."""
        known = self.acknowledged.setdefault(prompted.message, prompted)
        if (known.session, known.text) != (prompted.session, prompted.text):
            raise Broken(f"{prompted.message} is acknowledged for two prompts: {known} and {prompted}")

    def see(self, message: str, result: Mapping[str, Any], begun: int, answered: int) -> None:
        """A caller reads what became of a prompt; an end that was told is told again ever after.

        ``begun`` and ``answered`` count the answers there were when the call began and when it had its own:
        one that began before the end was told may have looked before it, however late its answer comes.
        """
        status = result["status"]
        if status not in ENDED:
            goes_on = "background" in result  # it has answered, and what it began works on
            if begun >= self.seen_at.get(message, begun + 1) and not goes_on:
                raise Broken(f"{message} is {status} after it was told to be {self.seen[message]}")
            return
        reply = result.get("reply") or {}
        found = (status, result.get("stopReason"), reply.get("text"))
        before = self.seen.setdefault(message, found)
        self.seen_at.setdefault(message, answered)
        is_gone = result["session"] in self.deleted | self.being_deleted  # and its texts with it
        if before != found and not (is_gone and before[:2] == found[:2]):
            raise Broken(f"{message} was told to be {before} and now {found}")
