"""What a provider is: something that runs one turn, and the table that finds it by the turn's provider."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from showcaller.actors.contract.agent_messages import AnswerCard, ResumedVia
from showcaller.actors.contract.worker import ErrorClass, FromWorkerMessage, RunTurn, StopReason


class Rest(Protocol):
    """What of a turn's work still runs when the turn has ended; whoever gets it must call ``ended`` once."""

    @property
    def description(self) -> str:
        """What it is, in one line."""
        ...

    async def ended(self, sink: "Sink") -> None:
        """Return when nothing of it is left, soon after the sink's grace once it is halted.

        What it writes goes to ``sink``; when this is cancelled, all of it is ended at once.
        """


@dataclass(frozen=True, slots=True)
class Result:
    """What a turn came to, as its provider saw it: failed if and only if ``error_text`` is given.

    The provider keeps ``reply`` within bounds and says in ``truncated`` whether it had to cut.
    The host turns it into the turn's end; when the turn was cut (stopped, out of time, worker closed),
    the host says so in the end and takes only reply and exit code from here. ``rest`` is only given where the
    turn allows it (``RunTurn.background``). ``agent_session``, ``resumed_via``
    and ``activity`` are as in ``TurnEnded``.
    """

    reply: str = ""
    truncated: bool = False
    error_text: str | None = None
    stop_reason: StopReason = "end"
    exit_code: int | None = None
    rest: Rest | None = None
    error_class: ErrorClass | None = None
    agent_session: str | None = None
    resumed_via: ResumedVia | None = None
    activity: tuple[str, ...] = ()


class Sink(Protocol):
    """What work is given that runs: a turn's, or its rest. To be used on the host's event loop only."""

    @property
    def grace(self) -> float:
        """Seconds that the work has, once it was asked to end, before it is ended by force."""
        ...

    def write(self, text: str) -> None:
        """Stream a piece of the reply; bounded in size and rate on the way, so it may be called often."""

    def act(self, line: str) -> None:
        """Tell in one line what the work does beside its reply; of many, the last are told."""

    def on_halt(self, act: Callable[[], None]) -> None:
        """Call ``act`` once when the turn is to end before its time; at once when that was asked already."""

    def settle(self) -> None:
        """Say that the work has ended by itself: being asked to end from now on changes nothing."""

    def pause(self) -> None:
        """Count no time until ``go_on`` was called as often: the work waits for a person."""

    def go_on(self) -> None:
        """Count the time again."""


class Provider(Protocol):
    """Runs turns on the host's event loop, many at a time; what it raises fails its turn only."""

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Run one turn to its end. After a halt it must return soon after the sink's grace."""
        ...

    async def close(self) -> None:
        """Let go of threads and the like; called when no turn runs any more."""


class UnknownProviderError(Exception):
    """No provider has this name; the text lists the known ones."""


class Agents(Provider, Protocol):
    """A provider whose work goes on between turns: agent processes, each of one session."""

    def connect(self, post: Callable[[FromWorkerMessage], None]) -> None:
        """Say who gets what agents ask and how they stand; called once, on the host's event loop."""

    def kill(self, session: str) -> None:
        """End the session's agent process at once, with all that it has started."""

    def answer(self, answer: AnswerCard) -> None:
        """Take what became of a card; one that nobody waits for is dropped."""

    def tell_all(self) -> None:
        """Tell how all agents stand, and what they ask: another relay has come."""


class NoAgents:
    """Stands where a worker runs no agents."""

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        """Fail the turn."""
        return Result(error_text=f"this worker runs no agents, so not {turn.provider[:80]!r} either")

    async def close(self) -> None:
        """Nothing to close."""

    def connect(self, post: Callable[[FromWorkerMessage], None]) -> None:
        """Nothing will be told."""

    def kill(self, session: str) -> None:
        """Nothing runs."""

    def answer(self, answer: AnswerCard) -> None:
        """Nobody has asked."""

    def tell_all(self) -> None:
        """Nothing to tell."""


class Providers:
    """The table from a turn's provider (``command``, ``callable:module:function``) to what runs it.

    A turn that says how its agent is run goes to ``agents``, and one that says which command is to be run to
    ``command``, whatever its provider is called.
    """

    def __init__(self, table: Mapping[str, Provider], agents: Agents | None = None) -> None:
        self._table = dict(table)
        self.agents: Agents = agents or NoAgents()

    def of(self, turn: RunTurn) -> Provider:
        """Give what runs this turn, or raise UnknownProviderError."""
        if turn.agent is not None:
            return self.agents
        return self.find("command" if turn.command is not None else turn.provider)

    def find(self, provider: str) -> Provider:
        """Give the provider named before the first colon, or raise UnknownProviderError."""
        found = self._table.get(provider.partition(":")[0])
        if found is None:
            known = ", ".join(sorted(self._table)) or "none"
            raise UnknownProviderError(f"unknown provider {provider[:80]!r}; this worker knows: {known}")
        return found

    async def close(self) -> None:
        """Close every provider."""
        for provider in (*self._table.values(), self.agents):
            await provider.close()
