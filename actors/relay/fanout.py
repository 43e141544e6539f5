"""A fan-out under way: starts its items within the bound of jobs, and records one result for each."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult, ItemStatus, compact_json, render
from showcaller.actors.relay import fanout_steps as steps
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.fanout_items import Attempt, recorded_result
from showcaller.actors.relay.fanout_messages import FanoutRequest, StopFanout
from showcaller.actors.relay.messages import (
    CreateSession,
    ItemLink,
    Listen,
    NotUnderWay,
    Prompt,
    StopRunning,
    ToSession,
    TurnOver,
    Write,
    Written,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_of
from showcaller.actors.runtime import Actor, ActorRef, Future
from showcaller.store.batch import Answer

PAGE = 1000  # items read from the store at a time


class _Page(NamedTuple):
    """Items read from the store."""

    rows: list[dict[str, Any]]


class _Known(NamedTuple):
    """The latest attempt at an item, as the store has it."""

    attempt: Attempt
    message: dict[str, Any] | None


class _Accepted(NamedTuple):
    """The prompt of an item is stored."""

    number: int


class _Failed(NamedTuple):
    """Something that was asked for ended in an error."""

    error: Exception


class _Stored(NamedTuple):
    """Tag: the fan-out itself is stored."""


class _Finished(NamedTuple):
    """Tag: the end of the whole fan-out is stored."""


class _Recorded(NamedTuple):
    """Tag: the result of an item is stored."""

    number: int
    result: ItemResult


class _Found(NamedTuple):
    """The fan-out to go on with."""

    row: dict[str, Any] | None


class Fanout(Actor):
    """One fan-out. It ends itself when every item has been reported."""

    registered = False

    def __init__(
        self, request: FanoutRequest, ports: Ports, writer: ActorRef[Any], supervisor: ActorRef[Any]
    ) -> None:
        super().__init__()
        self._request = request
        self._ports = ports
        self._writer = writer
        self._supervisor = supervisor
        self._listener = request.listener
        self._spec: FanoutSpec
        self._rows: deque[dict[str, Any]] = deque()
        self._last_read = 0
        self._reading = False
        self._exhausted = False
        self._working: dict[int, Attempt] = {}
        self._by_message: dict[str, int] = {}
        self._started = 0
        self._stopping = False
        self._begun = False
        self._over = False

    # -- begin -------------------------------------------------------------------------------------

    def on_start(self) -> None:
        """Store the new fan-out, or look up the one to go on with."""
        request = self._request
        if request.items is None or request.spec is None:
            self._ask_reader("fanout", _Found, group=request.group)
            return
        arguments = {
            "group": {"id": request.group, "name": request.name},
            "spec": request.spec.model_dump_json(),
            "items": [compact_json(item) for item in request.items],
            "at": self._ports.clock.wall(),
        }
        self._write("start_fanout", arguments, _Stored())

    def on_receive(self, message: Any) -> None:
        """Take one message and see what is due."""
        handle = _HANDLERS.get(type(message))
        if handle is None:
            super().on_receive(message)
            return
        handle(self, message)
        if not self._over:
            self._fill()

    def _found(self, found: _Found) -> None:
        row = found.row
        if row is None:
            self._fail(Refusal(Code.UNKNOWN_GROUP, f"There is no fan-out {self._request.group}."))
            return
        changes = {"jobs": self._request.jobs, "rerun": self._request.rerun}
        stored = json.loads(row["spec"])
        spec = FanoutSpec.model_validate(
            stored | {key: value for key, value in changes.items() if value is not None}
        )
        self._begin(spec, row["name"], row["total"])

    def _begin(self, spec: FanoutSpec, name: str | None, total: int) -> None:
        self._spec = spec
        self._template = spec.parsed()
        self._begun = True
        self._listener.ready(spec, name or self._request.group, total)

    # -- the flow of items -------------------------------------------------------------------------

    def _fill(self) -> None:
        """Take up items while there is room, and read on when the page is used up."""
        while self._begun and self._rows and (self._stopping or len(self._working) < self._spec.jobs):
            self._take_up(self._rows.popleft())
        if not self._begun or self._rows or self._reading:
            return
        if not self._exhausted:
            self._reading = True
            self._ask_reader(
                "fanout_items", _Page, group=self._request.group, after=self._last_read, limit=PAGE
            )
        elif not self._working:
            self._finish()

    def _page(self, page: _Page) -> None:
        rows = page.rows
        self._reading = False
        self._exhausted = len(rows) < PAGE
        if rows:
            self._last_read = rows[-1]["number"]
        self._rows.extend(rows)

    def _take_up(self, row: dict[str, Any]) -> None:
        if row["status"] is not None:
            self._listener.result(recorded_result(row))
            return
        attempt = Attempt.of(row)
        if self._stopping:
            self._listener.result(attempt.result("skipped" if attempt.session is None else "interrupted"))
            return
        self._working[attempt.number] = attempt
        if attempt.message is None:
            self._do(attempt, steps.Start())
        else:
            self._look_up(attempt, attempt.message)

    def _look_up(self, attempt: Attempt, message: str) -> None:
        self._ask_reader("message", lambda found: _Known(attempt, found), message=message)

    def _known(self, known: _Known) -> None:
        attempt, message = known
        due = steps.on_resume(attempt, message, self._spec)
        if self._stopping and not isinstance(due, steps.Record):
            self._report(attempt, attempt.result("interrupted"))
        else:
            self._do(attempt, due)

    def _do(self, attempt: Attempt, due: steps.Due) -> None:
        match due:
            case steps.Start():
                self._start(attempt)
            case steps.Take(session, message):
                self._note(attempt, session, message)
                self._supervisor.tell(ToSession(session, Listen(message, self.actor_ref)))
            case steps.Retry(session):
                self._retry(attempt, session)
            case steps.Record():
                self._record(attempt, due)

    def _start(self, attempt: Attempt) -> None:
        prompt = self._prompt(attempt)
        session = {
            "id": self._ports.new_id("ses_"),
            "title": attempt.title,
            "provider": self._provider,
            "mode": "agent",
            "origin": "owner",
            "created_at": prompt["created_at"],
            "cwd": self._spec.cwd,
            "group": self._request.group,
        }
        self._note(attempt, session["id"], prompt["id"])
        link = ItemLink(self._request.group, attempt.number)
        self._ask_supervisor(attempt, CreateSession(session, Prompt(prompt, link, listener=self.actor_ref)))

    def _retry(self, attempt: Attempt, session: str) -> None:
        prompt = self._prompt(attempt)
        self._note(attempt, session, prompt["id"])
        link = ItemLink(self._request.group, attempt.number)
        self._ask_supervisor(attempt, ToSession(session, Prompt(prompt, link, listener=self.actor_ref)))

    def _prompt(self, attempt: Attempt) -> dict[str, Any]:
        attempt.attempts += 1
        is_callable = self._spec.kind == "callable"
        return {
            "id": self._ports.new_id("msg_"),
            "origin": "owner",
            "text": attempt.text if is_callable else render(self._template, attempt.text, attempt.number),
            "item": compact_json(attempt.item) if is_callable else None,
            "timeout": self._spec.timeout,
            "created_at": self._ports.clock.wall(),
        }

    @property
    def _provider(self) -> str:
        if self._spec.kind == "callable":
            return f"callable:{self._spec.template}"
        return self._spec.provider

    def _note(self, attempt: Attempt, session: str, message: str) -> None:
        attempt.session, attempt.message = session, message
        self._by_message[message] = attempt.number
        self._started += 1
        self._moved()

    def _accepted(self, accepted: _Accepted) -> None:
        attempt = self._working.get(accepted.number)
        if self._stopping and attempt is not None and attempt.session is not None:
            self._interrupt(attempt.session)

    def _not_under_way(self, gone: NotUnderWay) -> None:
        """The attempt we meant to listen to has ended meanwhile: see what the store says."""
        number = self._by_message.pop(gone.message, None)
        attempt = None if number is None else self._working.get(number)
        if attempt is not None:
            self._look_up(attempt, gone.message)

    # -- the end of an attempt ---------------------------------------------------------------------

    def _turn_over(self, over: TurnOver) -> None:
        number = self._by_message.pop(over.message, None)
        attempt = None if number is None else self._working.get(number)
        if attempt is None:
            return
        due = steps.on_end(over.end, attempt.attempts, self._spec)
        was_cut = isinstance(due, steps.Record) and due.status == "interrupted"
        if self._stopping and (was_cut or isinstance(due, steps.Retry)):
            status: ItemStatus = "interrupted" if was_cut else "failed"
            end = over.end
            self._report(attempt, attempt.result(status, end.exit_code, end.reply, end.seconds))
        else:
            self._do(attempt, due)

    def _record(self, attempt: Attempt, due: steps.Record) -> None:
        result = attempt.result(due.status, due.exit_code, due.reply, due.seconds)
        arguments = {
            "group": self._request.group,
            "number": attempt.number,
            "status": due.status,
            "exit_code": due.exit_code,
            "reply": due.reply,
            "seconds": due.seconds,
            "error": due.error,
            "at": self._ports.clock.wall(),
        }
        self._write("record_item", arguments, _Recorded(attempt.number, result))

    def _report(self, attempt: Attempt, result: ItemResult) -> None:
        del self._working[attempt.number]
        self._listener.result(result)
        self._moved()

    def _moved(self) -> None:
        self._listener.moved(self._started, len(self._working))

    # -- stopping and ending -----------------------------------------------------------------------

    def _stop_asked(self, _: StopFanout) -> None:
        self._stop_running()

    def _stop_running(self) -> None:
        if self._stopping:
            return
        self._stopping = True
        for attempt in self._working.values():
            if attempt.session is not None and attempt.message is not None:
                self._interrupt(attempt.session)

    def _interrupt(self, session: str) -> None:
        self._supervisor.tell(ToSession(session, StopRunning(interrupted=True)))

    def _finish(self) -> None:
        if self._stopping:
            self._end(None)
            return
        self._over = True
        self._write(
            "finish_fanout", {"group": self._request.group, "at": self._ports.clock.wall()}, _Finished()
        )

    def _failed(self, failed: _Failed) -> None:
        self._fail(failed.error)

    def _fail(self, error: Exception) -> None:
        if not self._over:
            self._stop_running()
            self._end(error)

    def _end(self, error: Exception | None) -> None:
        self._over = True
        self._listener.finished(error)
        self.stop()

    # -- asking ------------------------------------------------------------------------------------

    def _written(self, written: Written) -> None:
        tag, answer = written
        if self._refused(answer):
            return
        if isinstance(tag, _Stored) and self._request.spec is not None:
            self._begin(self._request.spec, self._request.name, len(self._request.items or ()))
        elif isinstance(tag, _Recorded):
            self._report(self._working[tag.number], tag.result)
        elif isinstance(tag, _Finished):
            self._end(None)

    def _refused(self, answer: Answer) -> bool:
        refusal = refusal_of(answer)
        if refusal is not None:
            self._fail(refusal)
        return refusal is not None

    def _write(self, name: str, arguments: dict[str, Any], tag: Any) -> None:
        self._writer.tell(Write(name, arguments, self.actor_ref, tag))

    def _ask_supervisor(self, attempt: Attempt, message: Any) -> None:
        ref, number = self.actor_ref, attempt.number
        self._supervisor.request(message).add_done_callback(
            lambda done: _tell(ref, done, lambda _: _Accepted(number))
        )

    def _ask_reader(self, query: str, wrap: Any, **arguments: Any) -> None:
        ref = self.actor_ref
        read(self._ports.reader, query, **arguments).add_done_callback(lambda done: _tell(ref, done, wrap))


_HANDLERS: dict[type, Callable[[Fanout, Any], None]] = {
    Written: Fanout._written,
    TurnOver: Fanout._turn_over,
    NotUnderWay: Fanout._not_under_way,
    StopFanout: Fanout._stop_asked,
    _Found: Fanout._found,
    _Page: Fanout._page,
    _Known: Fanout._known,
    _Accepted: Fanout._accepted,
    _Failed: Fanout._failed,
}


def _tell(ref: ActorRef[Any], done: "Future[Any]", wrap: Any) -> None:
    try:
        message = wrap(done.get())
    except Exception as error:  # noqa: BLE001 - whatever it is, the fan-out has to hear of it
        message = _Failed(error)
    if ref.is_alive():
        ref.tell(message)
