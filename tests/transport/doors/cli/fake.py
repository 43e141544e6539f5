"""A relay that only remembers what the command line asked of it, and answers as a test says."""

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.contract.provider_entries import BUILT_IN
from showcaller.actors.contract.provider_states import provider_list
from showcaller.actors.contract.settings import Settings

GROUP = "grp_0d1v9x3k7q2m"
RESUME = f"showcaller fanout --resume {GROUP}"
Outcome = Callable[[Any, int], ItemResult]


def done(item: Any, number: int) -> ItemResult:
    """End an item well, with a reply that names it."""
    return ItemResult(
        item=item,
        number=number,
        session=f"ses_{number:012}",
        status="done",
        exit_code=0,
        reply=f"{number} {item}\n",
        seconds=0.25,
        attempts=1,
    )


def failed(item: Any, number: int) -> ItemResult:
    """End an item badly."""
    return done(item, number).model_copy(update={"status": "failed", "exit_code": 3, "reply": "no such file"})


class FakeRun:
    """A fan-out whose items end in order; ``before`` is called before each."""

    def __init__(self, spec: FanoutSpec, items: Sequence[Any], outcome: Outcome) -> None:
        self.group = GROUP
        self.name = spec.name or "amber-otter"
        self.total = len(items)
        self.spec = spec
        self.started = 0
        self.running = 0
        self.items = items
        self.outcome = outcome
        self.before: Callable[[int], None] = lambda number: None
        self.stopped = threading.Event()

    def results(self) -> Iterator[ItemResult]:
        for number, item in enumerate(self.items, start=1):
            self.before(number)
            if self.stopped.is_set():
                yield ItemResult(item=item, number=number, status="skipped")
            else:
                self.started += 1
                yield self.outcome(item, number)

    def stop(self) -> None:
        self.stopped.set()


class FakeRelay:
    """Records calls; a call is answered by ``answer``, a fan-out's items end by ``outcome``."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.ids: list[str | None] = []
        self.set: dict[str, Any] = {}
        self.find_program: Callable[[str], str | None] = str
        self.backup_error: Refusal | None = None
        self.opened: list[tuple[Path, bool]] = []
        self.closed = 0
        self.answer: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda call: {"ok": True}
        self.outcome: Outcome = done
        self.prepare: Callable[[FakeRun], None] = lambda run: None
        self.start_error: Exception | None = None
        self.run: FakeRun | None = None
        self.resumed: dict[str, Any] | None = None
        self.fanouts: list[dict[str, Any]] = []
        self.resume_error: Refusal | None = None
        self.known: tuple[FanoutSpec, Sequence[Any]] | None = None

    @contextmanager
    def open(self, home: Path, *, read_only: bool) -> Generator["FakeRelay"]:
        if self.start_error is not None:
            raise self.start_error
        self.opened.append((home, read_only))
        try:
            yield self
        finally:
            self.closed += 1

    def call(self, arguments: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        self.calls.append(arguments)
        self.ids.append(id)
        return self.answer(arguments)

    def monitor(
        self,
        sessions: Sequence[str] | None = None,
        *,
        until: Sequence[str] = (),
        timeout: float = 0,
        since: int | None = None,
        reconnect: float = 0,
    ) -> dict[str, Any]:
        asked = {"sessions": sessions, "until": tuple(until), "since": since, "reconnect": reconnect}
        return self.call({"action": "monitor", "waits": timeout > 0, **asked})

    def events(self, since: int = 0, limit: int = 100) -> dict[str, Any]:
        return self.call({"action": "events", "since": since, "limit": limit})

    def kill(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        return self.call({"action": "kill", "session": session}, id=id)

    def go_on(self, session: str) -> dict[str, Any]:
        return self.call({"action": "go_on", "session": session})

    def restart(self, session: str) -> dict[str, Any]:
        return self.call({"action": "restart", "session": session})

    def delete(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        return self.call({"action": "delete", "session": session}, id=id)

    def settings(self) -> Settings:
        return Settings.of_values(self.set)

    def set_setting(self, name: str, value: object) -> Settings:
        self.set[name] = value
        return self.settings()

    def providers(self, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = provider_list(
            BUILT_IN, self.settings(), names, self.find_program
        ).model_dump(mode="json", by_alias=True)["providers"]
        return listed

    def export(self, session: str, form: str) -> Iterator[str]:
        yield f"{session} as {form}\n"

    def back_up(self, target: Path, *, replace: bool = False) -> Path:
        if self.backup_error is not None:
            raise self.backup_error
        return target

    def start_fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> FakeRun:
        self.run = FakeRun(spec, items, self.outcome)
        self.prepare(self.run)
        return self.run

    def resume_fanout(self, group: str, *, rerun: bool, jobs: int | None) -> FakeRun:
        if self.resume_error is not None:
            raise self.resume_error
        if self.known is None:
            raise Refusal(Code.UNKNOWN_GROUP, f"There is no fan-out {group!r}.")
        self.resumed = {"group": group, "rerun": rerun, "jobs": jobs}
        return self.start_fanout(*self.known)

    def list_fanouts(self) -> list[dict[str, Any]]:
        return self.fanouts
