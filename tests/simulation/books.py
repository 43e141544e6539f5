"""The books of whoever watches a relay from outside: what it acknowledged, handed over and was told.

They are kept without looking into the relay or its store, and every promise that can be seen to be broken
while it happens is checked here; the rest is compared with the store by ``promises.py``.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from showcaller.actors.contract.worker import RunTurn, TurnEnded

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


@dataclass
class Books:
    """Everything that was promised, from the first start of the relay to the last."""

    acknowledged: dict[str, Prompted] = field(default_factory=dict[str, Prompted])
    refused: dict[str, str] = field(default_factory=dict[str, str])  # texts, with the code
    runs: dict[str, RunTurn] = field(default_factory=dict[str, RunTurn])
    handed_in: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[str, TurnEnded] = field(default_factory=dict[str, TurnEnded])
    excused: set[str] = field(default_factory=set[str])  # turns that something cut
    cut_groups: set[str] = field(default_factory=set[str])  # fan-outs that were stopped or failed
    stopped: set[str] = field(default_factory=set[str])  # sessions that somebody stopped, and held since
    seen: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])

    def handed(self, run: RunTurn, working: Mapping[str, str]) -> None:
        """A worker gets a prompt; ``working`` are its sessions at work, with their turns."""
        if run.turn in self.runs:
            raise Broken(f"{run.turn} was handed over twice")
        if run.session in working:
            raise Broken(f"{run.turn} was handed over while {working[run.session]} of its session runs")
        self.runs[run.turn] = run
        self.handed_in[run.session].append(run.turn)

    def told_end(self, end: TurnEnded) -> None:
        """A worker says how a turn ended."""
        self.ends[end.turn] = end

    def acknowledge(self, prompted: Prompted) -> None:
        """A caller was told that its prompt is stored."""
        known = self.acknowledged.setdefault(prompted.message, prompted)
        if (known.session, known.text) != (prompted.session, prompted.text):
            raise Broken(f"{prompted.message} is acknowledged for two prompts: {known} and {prompted}")

    def see(self, message: str, result: Mapping[str, Any]) -> None:
        """A caller reads what became of a prompt; an end that was told is told again ever after."""
        status = result["status"]
        if status not in ENDED:
            if message in self.seen:
                raise Broken(f"{message} is {status} after it was told to be {self.seen[message]}")
            return
        reply = result.get("reply") or {}
        found = (status, result.get("stopReason"), reply.get("text"))
        before = self.seen.setdefault(message, found)
        if before != found:
            raise Broken(f"{message} was told to be {before} and now {found}")
