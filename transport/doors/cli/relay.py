"""What the commands need from a relay, as Protocols; the program's entry hands in what opens one."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
    from showcaller.actors.contract.handshakes import Handshake
    from showcaller.actors.contract.settings import Settings

BESIDE_A_STORE: Final = frozenset(
    {"lock", "token", "relay.json", "started", "providers.toml", "handshakes.json"}
)
"""Files of a data folder in which nothing is stored."""


class FanoutRun(Protocol):
    """A fan-out under way."""

    @property
    def group(self) -> str:
        """The id of the group that holds its sessions."""
        ...

    @property
    def name(self) -> str:
        """The group's name: given, or made."""
        ...

    @property
    def total(self) -> int:
        """How many items it has, and so how many results will come."""
        ...

    @property
    def spec(self) -> "FanoutSpec":
        """What was asked for when it started."""
        ...

    @property
    def started(self) -> int:
        """How many items were started in this run so far. Thread-safe."""
        ...

    @property
    def running(self) -> int:
        """How many items run at this moment. Thread-safe."""
        ...

    def results(self) -> Iterator["ItemResult"]:
        """Give one result per item: the recorded ones first, then each as it ends; blocks between them.

        After ``stop`` what had not ended comes as ``interrupted`` or ``skipped``; it ends after ``total``.
        """
        ...

    def stop(self) -> None:
        """Start no more items and end those that run. Callable from any thread; a second call is harmless."""
        ...


class LocalRelay(Protocol):
    """An open relay, used as its owner."""

    def call(self, arguments: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out one ``relay_tool`` call and give its result; a refusal is a result too. Blocks.

        ``id`` makes a repeat of a write harmless.
        """
        ...

    def kill(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Stop a session and end its agent's process at once; gives what ``call`` does."""
        ...

    def go_on(self, session: str) -> dict[str, Any]:
        """Let run what waits in a session's queue since it was stopped; gives what ``call`` does."""
        ...

    def restart(self, session: str) -> dict[str, Any]:
        """Go on with a session in a new process of its agent; gives what ``call`` does."""
        ...

    def delete(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Delete a session that is not at work, for good; gives what ``call`` does."""
        ...

    def settings(self) -> "Settings":
        """Give the settings in force; raises ``Refusal``."""
        ...

    def set_setting(self, name: str, value: object) -> "Settings":
        """Set one setting, None for its default, and give all that are in force; raises ``Refusal``."""
        ...

    def providers(self, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        """List what sessions can run, of these names or all there is; raises ``Refusal``."""
        ...

    def export(self, session: str, form: str) -> Iterator[str]:
        """Give a whole conversation as a text in pieces; raises ``Refusal``."""
        ...

    def back_up(self, target: Path, *, replace: bool = False) -> Path:
        """Copy the store into a file, named by its absolute path, and give that; raises ``Refusal``."""
        ...

    def monitor(
        self,
        sessions: Sequence[str] | None = None,
        *,
        until: Sequence[Any] = (),
        timeout: float = 0,
        since: int | None = None,
        reconnect: float = 0,
    ) -> dict[str, Any]:
        """Wait for what happens, as ``session_monitor`` does; a refusal is a result too. Blocks.

        A running relay that has gone is waited for ``reconnect`` seconds.
        """
        ...

    def events(self, since: int = 0, limit: int = 100) -> dict[str, Any]:
        """Give a page of the log of events, as ``session_events`` does; a refusal is a result too."""
        ...

    def start_fanout(self, spec: "FanoutSpec", items: Sequence[Any]) -> FanoutRun:
        """Start a session per item; raises ``Refusal`` when the relay will not."""
        ...

    def resume_fanout(self, group: str, *, rerun: bool, jobs: int | None) -> FanoutRun:
        """Go on with a fan-out named by its group's id, a prefix of it, or its name.

        ``rerun`` starts items again that were cut in the middle; ``jobs`` replaces the stored concurrency.
        Raises ``Refusal`` when there is no such group.
        """
        ...

    def list_fanouts(self) -> list[dict[str, Any]]:
        """List fan-outs, newest first.

        Each has ``group``, ``name``, ``createdAt``, ``items``, ``ended``, ``notDone``, ``endedAs`` and
        ``state``.
        """
        ...


class OpenRelay(Protocol):
    """What opens the relay of a data folder."""

    def __call__(self, home: Path, *, read_only: bool) -> AbstractContextManager[LocalRelay]:
        """Open it for the length of a ``with``; raises ``RelayStartError`` when that cannot be."""
        ...


class ServeOptions(NamedTuple):
    """How a relay is to be served.

    ``port`` 0 takes a free one; ``log_file`` gets the log, within a size, instead of standard error;
    ``ready`` gets the line that says where it listens; ``stop_with`` gets what begins its orderly end, from
    any thread; ``warn`` gets what its owner should see besides.
    """

    port: int
    workers: int | None
    log: Literal["text", "json"]
    log_file: Path | None
    ready: Callable[[str], None]
    stop_with: Callable[[Callable[[], None]], None]
    warn: Callable[[str], None]


class ServeRelay(Protocol):
    """What runs a relay for other programs to use."""

    def __call__(self, home: Path, options: ServeOptions) -> None:
        """Serve until the orderly end; raises ``RelayStartError`` when that cannot be."""
        ...


class Farewell(NamedTuple):
    """How many workers without a relay have ended when told to, and the processes of those that have not."""

    ended: int
    left: list[int]


class LeftWorker(NamedTuple):
    """A worker whose relay has gone: its ``process``, and the ``turns`` that it has.

    Either is None where that cannot be told, as of a worker of another version.
    """

    name: str
    process: int | None
    turns: tuple[str, ...] | None


class FindWorkers(Protocol):
    """What finds the workers that a relay has left which does not run any more."""

    def __call__(self, home: Path) -> list[LeftWorker]:
        """Give those that are there; changes nothing."""
        ...


class EndWorkers(Protocol):
    """What ends the workers that a relay has left which does not run any more."""

    def __call__(self, home: Path) -> Farewell:
        """End them, with what they run, and wait for that; raises ``RelayStartError`` when that cannot be."""
        ...


class RestoreStore(Protocol):
    """What puts a copy of a store into a data folder."""

    def __call__(self, home: Path, backup: Path) -> Path | None:
        """Give where what was there before is kept now, if there was anything; raises ``RelayStartError``."""
        ...


class CheckAgent(Protocol):
    """What sees whether the agent of a provider works."""

    def __call__(self, home: Path, provider: str) -> "Handshake":
        """Start it, keep in the data folder what it tells, and give that; raises ``Refusal``."""
        ...


def checks_nothing(home: Path, provider: str) -> "Handshake":
    """Stand in where commands are used without agents."""
    raise NotImplementedError(f"there is nothing to check {provider} with on {home}")


def restores_nothing(home: Path, backup: Path) -> Path | None:
    """Stand in where commands are used without a store."""
    raise NotImplementedError(f"there is no store to put {backup} into on {home}")


def finds_none(home: Path) -> list[LeftWorker]:
    """Stand in where commands are used without workers."""
    del home
    return []


def ends_nothing(home: Path) -> Farewell:
    """Stand in where commands are used without workers."""
    raise NotImplementedError(f"there are no workers to end on {home}")


def serves_nothing(home: Path, options: ServeOptions) -> None:
    """Stand in where commands are used without a relay to serve."""
    raise NotImplementedError(f"there is nothing to serve on {home} with {options.port}")


@dataclass(frozen=True)
class Door:
    """What every command gets: the data folder, how it was named, and what opens its relay.

    ``named`` is the folder as ``--home`` gave it, None when the environment or the default named it, so
    that a command can be repeated as it was typed; ``program`` are the words that call this program,
    ``version`` is its own, ``serve`` runs a relay for others, ``find_workers`` tells what one has left, which
    ``end_workers`` ends, ``restore`` puts a copy of a store into the folder, and ``check_agent`` sees whether
    an agent works.
    """

    home: Path
    named: str | None
    open_relay: OpenRelay
    program: tuple[str, ...] = ("showcaller",)
    version: str = ""
    serve: ServeRelay = serves_nothing
    end_workers: EndWorkers = ends_nothing
    restore: RestoreStore = restores_nothing
    check_agent: CheckAgent = checks_nothing
    find_workers: FindWorkers = finds_none

    def command_line(self, *words: str) -> str:
        """Give the line that calls this program with the words, on this data folder, ready to paste."""
        home = [] if self.named is None else ["--home", str(self.home)]
        return shlex.join([*self.program, *home, *words])

    @property
    def is_empty(self) -> bool:
        """Whether no relay ever stored anything in the data folder: there is nothing, or only a lock, say.

        One that may not be looked into is not empty: opening it says what is wrong.
        """
        try:
            return all(entry.name in BESIDE_A_STORE for entry in self.home.iterdir())
        except FileNotFoundError:
            return True
        except OSError:
            return False
