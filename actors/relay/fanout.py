"""A fan-out under way: starts its items within the bound of jobs, and records one result for each."""

import json
from collections.abc import Callable
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult, compact_json
from showcaller.actors.relay import fanout_steps as steps
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.fanout_items import Attempt, recorded_result
from showcaller.actors.relay.fanout_messages import FanoutOver, FanoutRequest, LeaveFanout, Room, StopFanout
from showcaller.actors.relay.fanout_news import (
    Asked,
    Failed,
    Finished,
    Found,
    Known,
    LookAgain,
    Page,
    Recorded,
    Stored,
)
from showcaller.actors.relay.fanout_pages import PAGE, Pages
from showcaller.actors.relay.fanout_rows import prompt_row, record_arguments, session_row
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.relay.messages import (
    AwaitStored,
    CreateSession,
    GoOn,
    IfAwake,
    ItemLink,
    Listen,
    NotUnderWay,
    Prompt,
    StopRunning,
    StoreGone,
    StoreTrouble,
    ToSession,
    TurnOver,
    Write,
    Written,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_for, refusal_of
from showcaller.actors.runtime import Actor, ActorDeadError, ActorRef, Future

OF_ONE_ITEM = frozenset({Code.NOT_FOUND, Code.QUEUE_LIMIT, Code.INVALID_INPUT})
"""Refusals of a prompt that are about its item alone, so that the others go on."""


class Fanout(Actor):
    """One fan-out. It ends itself when every item has been reported; its listener hears of every end."""

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
        self._pages = Pages()
        self._working: dict[int, Attempt] = {}
        self._by_message: dict[str, int] = {}
        self._started = 0
        self._stopping = False
        self._begun = False
        self._finishing = False
        self._over = False
        self._all_recorded = True
        self._noted_end = False

    # -- begin -------------------------------------------------------------------------------------

    def on_start(self) -> None:
        """Store the new fan-out, or look up the one to go on with."""
        try:
            self._set_out()
        except Exception as error:
            self._tell_end(error)  # nobody else does for a failed start
            raise

    def _set_out(self) -> None:
        request = self._request
        if request.items is None or request.spec is None:
            self._ask_reader("fanout", Found, group=request.group)
            return
        try:
            items = [compact_json(item) for item in request.items]
        except (TypeError, ValueError, RecursionError) as error:
            self._fail(error)
            return
        arguments = {
            "group": {"id": request.group, "name": request.name},
            "spec": request.spec.model_dump_json(),
            "items": items,
            "at": self._ports.clock.wall(),
        }
        self._write("start_fanout", arguments, Stored())

    def on_receive(self, message: Any) -> None:
        """Take one message and see what is due."""
        handle = _HANDLERS.get(type(message))
        if handle is None:
            super().on_receive(message)
        elif not self._over:
            handle(self, message)
            self._fill()

    def on_failure(self, *failure: Any) -> None:
        """Leave nobody waiting after a mistake of ours."""
        self._stop_running()
        self._tell_end(failure[1])

    def _found(self, found: Found) -> None:
        row = found.row
        if row is None:
            self._fail(Refusal(Code.UNKNOWN_GROUP, f"There is no fan-out {self._request.group}."))
            return
        changes = {"jobs": self._request.jobs, "rerun": self._request.rerun}
        stored = json.loads(row["spec"])
        spec = FanoutSpec.model_validate(
            stored | {key: value for key, value in changes.items() if value is not None}
        )
        self._noted_end = row["finished_at"] is not None
        self._begin(spec, row["name"], row["total"])

    def _begin(self, spec: FanoutSpec, name: str | None, total: int) -> None:
        self._spec = spec
        self._template = spec.parsed()
        self._begun = True
        self._listener.ready(spec, name or self._request.group, total)

    # -- the flow of items -------------------------------------------------------------------------

    def _fill(self) -> None:
        """Take up items while there is room, and read on when the page is used up."""
        if not self._begun or self._finishing or self._over:
            return
        while self._may_take_up():
            row = self._pages.next()
            if row is None:
                break
            self._take_up(row)
        if self._pages.is_due and self._has_room():
            self._pages.asked = True
            self._ask_reader(
                "fanout_items", Page, group=self._request.group, after=self._pages.after, limit=PAGE
            )
        elif self._pages.is_over and not self._working:
            self._finish()

    def _may_take_up(self) -> bool:
        return self._stopping or (len(self._working) < self._spec.jobs and self._has_room())

    def _has_room(self) -> bool:
        """A stop has to end though nobody may take the results any more."""
        return self._stopping or self._listener.has_room()

    def _page(self, page: Page) -> None:
        self._pages.add(page.rows)

    def _take_up(self, row: dict[str, Any]) -> None:
        if row["status"] is not None:
            self._listener.result(recorded_result(row))
            return
        attempt = Attempt.of(row)
        self._working[attempt.number] = attempt
        if attempt.message is None:
            self._do(attempt, steps.Start())
        else:
            self._look_up(attempt, attempt.message, first_look=True)

    def _look_up(self, attempt: Attempt, message: str, *, first_look: bool) -> None:
        self._ask_reader("message", lambda found: Known(attempt, found, first_look), message=message)

    def _known(self, known: Known) -> None:
        attempt, message, first_look = known
        self._do(attempt, steps.on_resume(attempt, message, self._spec, first_look=first_look))

    def _do(self, attempt: Attempt, due: steps.Due) -> None:
        if self._stopping:
            due = steps.when_stopping(due, attempt)
        match due:
            case steps.Start():
                self._start(attempt)
            case steps.Take(session, message):
                self._note(attempt, session, message)
                self._supervisor.tell(ToSession(session, GoOn(message)))
                self._ask_supervisor(attempt, ToSession(session, Listen(message, self.actor_ref)))
            case steps.Retry(session):
                self._retry(attempt, session)
            case steps.Record():
                self._record(attempt, due)
            case steps.Leave():
                self._all_recorded = False
                self._report(attempt, attempt.result(*due))

    def _start(self, attempt: Attempt) -> None:
        prompt = self._prompt(attempt)
        session = session_row(
            self._spec,
            attempt,
            self._ports.new_id("ses_"),
            self._request.group,
            prompt.row["created_at"],
        )
        self._note(attempt, session["id"], prompt.row["id"])
        self._ask_supervisor(attempt, CreateSession(session, prompt))

    def _retry(self, attempt: Attempt, session: str) -> None:
        prompt = self._prompt(attempt)
        self._note(attempt, session, prompt.row["id"])
        self._ask_supervisor(attempt, ToSession(session, prompt))

    def _prompt(self, attempt: Attempt) -> Prompt:
        attempt.attempts += 1
        message, at = self._ports.new_id("msg_"), self._ports.clock.wall()
        row = prompt_row(self._spec, self._template, attempt, message, at)
        return Prompt(row, ItemLink(self._request.group, attempt.number), listener=self.actor_ref)

    def _note(self, attempt: Attempt, session: str, message: str) -> None:
        attempt.session, attempt.message = session, message
        self._by_message[message] = attempt.number
        self._started += not attempt.counted
        attempt.counted = True
        self._moved()

    def _asked(self, asked: Asked) -> None:
        attempt = self._working.get(asked.number)
        if self._stopping and attempt is not None:
            self._interrupt(attempt)

    def _not_under_way(self, gone: NotUnderWay) -> None:
        """No end will come of the attempt that we listen to: see what the store says."""
        attempt = self._attempt_of(gone.message)
        if attempt is not None:
            self._lost(attempt)

    def _lost(self, attempt: Attempt) -> None:
        attempt.losses += 1
        due = steps.when_lost_again(attempt)
        if due is not None:
            self._do(attempt, due)
            return
        number = attempt.number
        self._when_done(self._writer.request(AwaitStored()), lambda _: LookAgain(number), number)

    def _look_again(self, again: LookAgain) -> None:
        attempt = self._working.get(again.number)
        if attempt is not None and attempt.message is not None:
            self._look_up(attempt, attempt.message, first_look=False)

    # -- the end of an attempt ---------------------------------------------------------------------

    def _attempt_of(self, message: str) -> Attempt | None:
        """Give the attempt that this message is, the first time that it is over."""
        number = self._by_message.pop(message, None)
        return None if number is None else self._working.get(number)

    def _turn_over(self, over: TurnOver) -> None:
        attempt = self._attempt_of(over.message)
        if attempt is None:
            return
        due: steps.Due = steps.on_end(over.end, attempt.attempts, self._spec)
        if self._stopping:
            due = steps.when_stopping(due, attempt, over.end)
        self._do(attempt, due)

    def _record(self, attempt: Attempt, due: steps.Record) -> None:
        result = attempt.result(due.status, due.exit_code, due.reply, due.seconds, due.error)
        arguments = record_arguments(self._request.group, attempt, due, self._ports.clock.wall())
        self._write("record_item", arguments, Recorded(attempt.number, result))

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
            self._interrupt(attempt)

    def _interrupt(self, attempt: Attempt) -> None:
        """End the attempt's turn, or keep it from beginning; its session tells us which."""
        if attempt.session is not None and attempt.message in self._by_message:
            stop = StopRunning("interrupted", attempt.message)
            tell_if_alive(self._supervisor, IfAwake(attempt.session, stop))

    def _finish(self) -> None:
        if self._stopping or self._noted_end or not self._all_recorded:
            self._end(None)
            return
        self._finishing = True
        self._write(
            "finish_fanout", {"group": self._request.group, "at": self._ports.clock.wall()}, Finished()
        )

    def _failed(self, failed: Failed) -> None:
        error = failed.error
        attempt = None if failed.number is None else self._working.get(failed.number)
        if attempt is not None and attempt.message is not None:
            self._by_message.pop(attempt.message, None)
        code = error.code if isinstance(error, Refusal) else None
        if attempt is not None and isinstance(error, ActorDeadError):
            self._lost(attempt)  # its session failed before it could answer
            return
        if attempt is not None and code in OF_ONE_ITEM:
            self._do(attempt, steps.Record("failed", None, "", 0.0, str(error)))
        elif attempt is not None and code is Code.UNAVAILABLE:  # the relay ends
            self._stop_running()
            self._do(attempt, steps.left_waiting(attempt))
        else:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._stop_running()
        self._end(error)

    def _end(self, error: Exception | None) -> None:
        if not self._over:
            self._tell_end(error)
            self.stop()

    def _tell_end(self, error: Exception | None) -> None:
        self._over = True
        tell_if_alive(self._supervisor, FanoutOver(self._request.group, self.actor_ref))
        self._listener.finished(None if error is None else refusal_for(error))

    # -- asking ------------------------------------------------------------------------------------

    def _written(self, written: Written) -> None:
        tag, answer = written
        refusal = refusal_of(answer)
        if refusal is not None:
            self._fail(refusal)
        elif isinstance(tag, Stored) and self._request.spec is not None:
            self._begin(self._request.spec, self._request.name, len(self._request.items or ()))
        elif isinstance(tag, Recorded):
            self._report(self._working[tag.number], tag.result)
        elif isinstance(tag, Finished):
            self._end(None)

    def _write(self, name: str, arguments: dict[str, Any], tag: Any) -> None:
        tell_if_alive(self._writer, Write(name, arguments, self.actor_ref, tag))  # else StoreGone comes

    def _ask_supervisor(self, attempt: Attempt, message: Any) -> None:
        number = attempt.number
        asked = self._supervisor.request(message)
        self._when_done(asked, lambda _: Asked(number), number)

    def _ask_reader(self, query: str, wrap: Any, **arguments: Any) -> None:
        self._when_done(read(self._ports.reader, query, **arguments), wrap, None)

    def _when_done(self, asked: "Future[Any]", wrap: Callable[[Any], Any], number: int | None) -> None:
        ref = self.actor_ref

        def tell(done: "Future[Any]") -> None:
            try:
                message = wrap(done.get())
            except Exception as error:  # noqa: BLE001 - whatever it is, the fan-out has to hear of it
                message = Failed(error, number)
            tell_if_alive(ref, message)

        asked.add_done_callback(tell)


_HANDLERS: dict[type, Callable[[Fanout, Any], None]] = {
    Written: Fanout._written,
    TurnOver: Fanout._turn_over,
    NotUnderWay: Fanout._not_under_way,
    StopFanout: Fanout._stop_asked,
    Room: lambda fanout, _: None,  # what is due is seen to after every message
    StoreTrouble: lambda fanout, trouble: fanout._fail(trouble.error),
    StoreGone: lambda fanout, gone: fanout._fail(gone.error),
    LeaveFanout: lambda fanout, leave: fanout._end(leave.error),
    Found: Fanout._found,
    Page: Fanout._page,
    Known: Fanout._known,
    LookAgain: Fanout._look_again,
    Asked: Fanout._asked,
    Failed: Fanout._failed,
}
