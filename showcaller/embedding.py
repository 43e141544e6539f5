"""A relay inside this process: joins the domain with a store, a worker and the door for Python programs."""

import asyncio
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

from showcaller.actors.contract.emptiness import absent
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.contract.json_text import plain_value
from showcaller.actors.contract.settings import DEFAULTS, Settings
from showcaller.actors.runtime import SYSTEM_CLOCK
from showcaller.answering import Answering
from showcaller.assembly import copy_store, open_parts
from showcaller.data_folder import DataFolder, default_home
from showcaller.grouping import Grouping
from showcaller.store.backup import restore
from showcaller.store.errors import StoreError
from showcaller.store.integrity import full_check, quick_check
from showcaller.transport.doors.local import LocalDoor
from showcaller.transport.doors.local_fanout import LocalFanout
from showcaller.transport.doors.opener import Opener
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.watching import Watching
from showcaller.workers import refuse_left_workers


class Relay(Watching, Answering, Grouping):
    """A relay embedded in this program; open it with ``Relay.open`` and use it in a ``with``.

    Everything it keeps is under its data folder, so that a later relay, or the command line, goes on with
    it. Thread-safe. One relay at a time may use a data folder. ::

        from showcaller import Relay

        with Relay.open("my-relay") as relay:
            made = relay.call({"action": "create_session", "text": "echo hello", "wait_seconds": 60})
            print(made["status"], made["reply"]["text"])
            prompt = {"action": "send", "session": made["session"], "text": "date", "wait_seconds": 0}
            sent = relay.call(prompt)
            waiting = {"action": "wait", "session": sent["session"], "message_id": sent["message_id"]}
            print(relay.call(waiting)["reply"]["text"])

    The actions are ``list_sessions``, ``read_session``, ``read_task_output``, ``create_session``, ``send``,
    ``wait``, ``stop``, ``archive``, ``list_relays`` and ``relay_info``. A session runs commands in the folder
    where the relay was opened, unless ``create_session`` names ``cwd``.
    """

    _database: Path
    _door: LocalDoor
    _closing: ExitStack
    _opener: Opener
    _gate: Lock

    def __init__(self) -> None:
        raise TypeError("open a relay with Relay.open(folder), in a with: it has to be closed")

    @classmethod
    def open(
        cls,
        home: Path | str | None = None,
        *,
        read_only: bool = False,
        writer_process: bool = True,
        settings: Settings = DEFAULTS,
        takes_up: bool = True,
    ) -> Self:
        """Open the relay of a data folder, which is made if need be.

        Args:
            home: the data folder; by default ``SHOWCALLER_HOME``, else the platform's place for user data.
            read_only: only look: takes no lock, changes nothing, and works beside a running relay.
            writer_process: write the database in a process of its own, which is quicker beside a busy
                program; without it the dispatcher's thread writes between the actors' turns.
            settings: what is named here holds as long as the relay is open, over what ``set_setting`` kept.
            takes_up: run the prompts that an earlier relay left waiting; without it they go on waiting, until
                their session is prompted here or a later relay takes them up. For a relay that is soon
                closed again, which would interrupt them.

        Raises:
            RelayStartError: what is wrong with the folder or its database, and the way out.

        """
        folder = DataFolder(default_home() if home is None else Path(home))
        with ExitStack() as opened:
            try:
                if not read_only:
                    folder.make()
                    opened.enter_context(folder.lock())
                door = open_parts(
                    folder,
                    opened,
                    read_only=read_only,
                    own_process=writer_process,
                    settings=settings,
                    takes_up=takes_up,
                ).door
            except StoreError as error:
                raise RelayStartError(f"The relay's database cannot be used: {error}", "") from error
            except Refusal as refusal:
                raise RelayStartError(refusal.error, "") from refusal
            relay = cls.__new__(cls)
            relay._database = folder.database
            relay._opener = Opener()
            relay._door, relay._closing, relay._gate = door, opened.pop_all(), Lock()
            return relay

    def call(self, arguments: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out one ``relay_tool`` call as the owner and give its result; blocks while it waits.

        Args:
            arguments: ``action`` and its arguments, as in the example of this class; ``relay`` may be left
                out and then is ``"this"``.
            id: makes a repeat of a write harmless: the same id again gives what the first gave.

        Returns:
            ``{"ok": True, …}`` with the action's fields, or ``{"ok": False, "code": …, "error": …}``; it
            never raises for a refusal. ``ok`` says that the call was carried out, ``status`` what became of
            a prompt (``done``, ``failed`` with ``errorText``, ``running``, ``queued``…).

        """
        return self._door.call(_to_this(arguments), id=id)

    async def call_async(self, arguments: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out one call as ``call`` does, without blocking the running asyncio loop."""
        return await self._door.call_async(_to_this(arguments), id=id)

    def kill(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Stop a session and end its agent's process at once, with all that it has started.

        Gives a result as ``call`` does, with ``stopRequested``. What waits in its queue stays there.
        """
        return self._door.act("kill", session, id=id)

    async def kill_async(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """End a session's agent as ``kill`` does, without blocking the running asyncio loop."""
        return await self._door.act_async("kill", session, id=id)

    def delete(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Delete a session for good, with all that was said in it; refused while it is at work.

        Gives a result as ``call`` does. What waits in its queue is cancelled.
        """
        return self._door.act("delete", session, id=id)

    async def delete_async(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Delete a session as ``delete`` does, without blocking the running asyncio loop."""
        return await self._door.act_async("delete", session, id=id)

    def go_on(self, session: str) -> dict[str, Any]:
        """Let run what has waited in a session's queue since it was stopped; gives what ``call`` does."""
        return self._door.act("go_on", session)

    async def go_on_async(self, session: str) -> dict[str, Any]:
        """Let a session go on as ``go_on`` does, without blocking the running asyncio loop."""
        return await self._door.act_async("go_on", session)

    def restart(self, session: str) -> dict[str, Any]:
        """Go on with a session's conversation in a new process of its agent; gives what ``call`` does.

        ``resumedVia`` says how. Refused while it works, and for sessions that have no agent.
        """
        return self._door.act("restart", session)

    async def restart_async(self, session: str) -> dict[str, Any]:
        """Restart a session's agent as ``restart`` does, without blocking the running asyncio loop."""
        return await self._door.act_async("restart", session)

    def fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> list[ItemResult]:
        """Run a session per item, ``spec.jobs`` at a time, and give one result per item, in their order.

        Blocks until all have ended; raises ``Refusal`` when nothing was started. Ctrl-C stops what
        runs; ``resume_fanout`` goes on with it later. ::

            spec = FanoutSpec(kind="command", template="wc -l {}", provider="command", jobs=8, cwd="/srv")
            lengths = [result.reply for result in relay.fanout(spec, ["a.txt", "b.txt"])]
        """
        return _in_order(self.start_fanout(spec, items))

    async def fanout_async(self, spec: FanoutSpec, items: Sequence[Any]) -> list[ItemResult]:
        """Run a fan-out as ``fanout`` does, without blocking the asyncio loop; to cancel it stops it."""
        run = await asyncio.to_thread(self.start_fanout, spec, items)
        ending = asyncio.ensure_future(asyncio.to_thread(_in_order, run))
        try:
            return await asyncio.shield(ending)
        except asyncio.CancelledError:
            run.stop()
            await ending
            raise

    def start_fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> LocalFanout:
        """Start a session per item, ``spec.jobs`` at a time; raises ``Refusal`` when nothing was started.

        What it gives iterates over one ``ItemResult`` per item, as they end. ::

            spec = FanoutSpec(kind="command", template="wc -l {}", provider="command", jobs=8, cwd="/srv")
            for result in relay.start_fanout(spec, ["a.txt", "b.txt"]):
                print(result.item, result.status, result.reply)
        """
        return self._door.start_fanout(spec, items)

    def resume_fanout(self, group: str, *, rerun: bool = True, jobs: int | None = None) -> LocalFanout:
        """Go on with a fan-out, named by its group's id or name; raises ``Refusal`` when there is none."""
        return self._door.resume_fanout(group, rerun=rerun, jobs=jobs)

    def list_fanouts(self) -> list[dict[str, Any]]:
        """List the last 20 fan-outs, newest first.

        Each has its ``group``, ``name``, ``createdAt``, ``items`` (how many), ``ended``, ``notDone`` (of
        those that ended), ``endedAs`` (how many in which way) and ``state``: ``ended``, or ``unfinished``
        where ``resume_fanout`` goes on with it.
        """
        return self._door.list_fanouts()

    def settings(self) -> Settings:
        """Give the settings by which this relay goes now: what was set, else the defaults."""
        return self._door.settings()

    def set_setting(self, name: str, value: object) -> Settings:
        """Set one of the limits of this relay, from now on and for every later relay of this data folder.

        A turn that runs keeps the limit of its start. ::

            relay.set_setting("max_turn_minutes", 120)

        Args:
            name: one of the fields of ``Settings``.
            value: what it allows; None goes back to the default.

        Returns:
            All settings as they are now.

        Raises:
            Refusal: there is no such setting, the value is none for it, or it could not be stored.

        """
        return self._door.set_setting(name, value)

    def providers(self, names: Iterable[str] = ()) -> list[dict[str, Any]]:
        """List what sessions can run, and whether each can be used; of these names, or all there are.

        Each has its ``provider``, and a ``state``: ``unknown`` for a name that this relay does not know,
        ``missing`` where a program is not installed (``toInstall`` says how to get it), ``available`` or
        ``ready``.
        """
        listed: list[dict[str, Any]] = self._door.providers(names).model_dump(mode="json", by_alias=True)[
            "providers"
        ]
        return listed

    def export(self, session: str, form: str = "md") -> Iterator[str]:
        """Give a whole conversation as a text in pieces, read from the store: its agent is not woken. ::

            Path("talk.html").write_text("".join(relay.export("3f9c2a1e", "html")))

        Args:
            session: its id, or the first six or more characters of one.
            form: ``md``, ``html`` or ``jsonl``.

        Raises:
            Refusal: there is no such session or form, or it is none that a relay ran.

        """
        return self._door.export(session, form)

    def back_up(self, target: Path | str, *, replace: bool = False) -> Path:
        """Copy all that this relay keeps into one file, as it is at one moment, while it goes on working.

        Args:
            target: the file to make, readable for its owner alone; it is there whole or not at all.
            replace: whether a file that is there already may be replaced.

        Returns:
            The absolute path of the copy, which ``Relay.restore`` puts back.

        Raises:
            Refusal: the file is there already, or cannot be written; it says what to do.

        """
        return copy_store(self._database, target, replace=replace)

    def check(self, *, quick: bool = False) -> list[str]:
        """Look whether all that this relay keeps is whole; gives what is wrong, in words, at best nothing.

        Args:
            quick: look at the file alone, not at its indexes and at what its tables say of each other.

        Raises:
            Refusal: the file cannot be read at all.

        """
        try:
            return quick_check(self._database) if quick else full_check(self._database)
        except StoreError as error:
            raise Refusal(Code.STORAGE, f"The store cannot be checked: {error}") from error

    @staticmethod
    def restore(backup: Path | str, home: Path | str | None = None) -> Path | None:
        """Put a copy that ``back_up`` made into a data folder on which no relay runs.

        Args:
            backup: the copy; it is checked in full first, and stays as it is.
            home: the data folder, as ``open`` takes it.

        Returns:
            Where the database that was there before is kept now, None when there was none.

        Raises:
            RelayStartError: a relay runs there, or a worker that one has left, or the copy is missing,
                damaged or of a newer version.

        """
        folder = DataFolder(default_home() if home is None else Path(home))
        folder.make()
        try:
            return restore(backup, folder.database, at=SYSTEM_CLOCK.wall(), alone=lambda: _alone(folder))
        except StoreError as error:
            raise RelayStartError(f"The copy cannot be restored: {error}", "") from error

    def close(self) -> None:
        """Interrupt what runs, store how it ended, and let go of the data folder.

        May be called again, and from several threads: each returns when it is done. A forked process has
        nothing to close: the relay goes on where it was opened.
        """
        if not self._opener.is_here:
            return
        with self._gate:
            self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _alone(folder: DataFolder) -> Generator[None]:
    """Hold a data folder in which nobody works, not even a worker without a relay, which has turns of it.

    Raises ``RelayStartError``.
    """
    with folder.lock():
        refuse_left_workers(folder.path)
        yield


def _in_order(run: LocalFanout) -> list[ItemResult]:
    try:
        return sorted(run.results(), key=lambda result: result.number)
    except BaseException:
        run.stop()
        raise


def _to_this(arguments: Any) -> Any:
    """Name this relay where none is named: what is empty counts as absent."""
    try:
        plain = plain_value(arguments)
    except Refusal:  # which the call gives as its result
        return arguments
    if not isinstance(plain, dict) or not absent(plain.get("relay")):
        return plain
    return {**plain, "relay": "this"}


@contextmanager
def open_relay(home: Path, *, read_only: bool = False) -> Generator[Relay]:
    """Open the relay of a data folder for the length of a command; raises ``RelayStartError``.

    What an earlier relay left waiting is not taken up: the end of the command would interrupt it.
    """
    with Relay.open(home, read_only=read_only, takes_up=False) as relay:
        yield relay
