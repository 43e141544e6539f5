"""Bugs to plant in the relay and its store, each of which the simulation has to find."""

import sqlite3
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from showcaller.actors.contract.calls import UpdateSession
from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay import card_signals, turn_arrivals, views
from showcaller.actors.relay import session as session_module
from showcaller.actors.relay import turns as turns_module
from showcaller.actors.relay.acceptance import Acceptance
from showcaller.actors.relay.background import Background
from showcaller.actors.relay.calls import consent
from showcaller.actors.relay.calls.external_calls import ExternalCalls
from showcaller.actors.relay.fanout import Fanout
from showcaller.actors.relay.listeners import Listeners
from showcaller.actors.relay.messages import Accepted
from showcaller.actors.relay.session import Session
from showcaller.actors.relay.session_cards import SessionCards
from showcaller.actors.relay.turn_effects import SendRun
from showcaller.actors.relay.turn_moves import Step
from showcaller.actors.relay.turn_state import Turn, TurnState
from showcaller.store import transaction
from showcaller.store.commands import COMMANDS, archiving, arrivals, queue, sessions, turns
from showcaller.transport.links.ordering import Arrivals

Plant = Callable[[pytest.MonkeyPatch], None]


def replace_command(patch: pytest.MonkeyPatch, name: str, wrong: Callable[..., Any]) -> None:
    """Have the writer run this instead of a command."""
    patch.setattr(transaction, "COMMANDS", {**COMMANDS, name: wrong})


def repeat_what_was_cut(patch: pytest.MonkeyPatch) -> None:
    """After a restart what a worker had is handed over again, instead of being told as interrupted."""

    def requeue(db: sqlite3.Connection, at: int) -> list[Any]:
        for message, session in db.execute(
            "SELECT id, session FROM message WHERE status = 'handed'"
        ).fetchall():
            db.execute("UPDATE message SET status = 'queued' WHERE id = ?", (message,))
            queue.insert_outbox(db, message, session, at)
        return []

    replace_command(patch, "interrupt_turns", requeue)


def lose_the_outbox(patch: pytest.MonkeyPatch) -> None:
    """A prompt is stored without what must follow it."""
    patch.setattr(arrivals, "insert_outbox", lambda *_: None)


def forget_an_end(patch: pytest.MonkeyPatch) -> None:
    """Every seventh end of a turn is not told to its session."""
    numbers = count(1)
    take = session_module._FROM_BELOW[TurnEnded]

    def forgetful(session: Session, end: Any) -> None:
        if next(numbers) % 7:
            take(session, end)

    patch.setitem(session_module._FROM_BELOW, TurnEnded, forgetful)


def answer_before_it_is_stored(patch: pytest.MonkeyPatch) -> None:
    """A caller is told that its prompt is stored when it is only on its way there."""
    accept = Acceptance.accept

    def hasty(self: Acceptance, prompt: Any, reply: Any, new_session: Any = None) -> None:
        if reply is not None:
            reply.try_set(Accepted(self._session, prompt.row["id"]))
        accept(self, prompt, reply, new_session)

    patch.setattr(Acceptance, "accept", hasty)


def send_before_it_is_stored(patch: pytest.MonkeyPatch) -> None:
    """A prompt goes to its worker while that is only on its way into the store."""
    promise = turns_module.Turns.promise

    def hasty(self: turns_module.Turns, message: Any) -> Any:
        hand_over = promise(self, message)
        if hand_over is not None:
            self._ports.workers.send([self._next_run])  # type: ignore[list-item]
        return hand_over

    patch.setattr(turns_module.Turns, "promise", hasty)


def send_what_a_stop_holds(patch: pytest.MonkeyPatch) -> None:
    """What was stored with its hand-over is sent although a stop has come meanwhile."""

    def heedless(state: TurnState, message: Any) -> Step:
        return Step(state._replace(turn=Turn(message, "running")), (SendRun(message),))

    patch.setattr(turn_arrivals, "_handed", heedless)


def last_comes_first(patch: pytest.MonkeyPatch) -> None:
    """The newest message of a queue is taken instead of the oldest."""
    first = TurnState.position_of_next

    def last(self: TurnState) -> int | None:
        return None if first(self) is None else len(self.queue) - 1

    patch.setattr(TurnState, "position_of_next", last)


def let_waits_hang(patch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a message whose session is put away hears nothing."""
    patch.setattr(Listeners, "over", lambda *_: None)


def run_a_batch_twice(patch: pytest.MonkeyPatch) -> None:
    """A batch whose answers were lost is carried out again."""
    patch.setattr(transaction, "_stored_answers", lambda *_: None)


def let_the_dead_write(patch: pytest.MonkeyPatch) -> None:
    """A writer of a relay that has died may go on writing."""
    known = transaction._stored_answers

    def unfenced(database: Any, batch: Any) -> Any:
        (epoch,) = database.connection.execute("SELECT epoch FROM writer_batch").fetchone()
        object.__setattr__(database, "epoch", epoch)
        return known(database, batch)

    patch.setattr(transaction, "_stored_answers", unfenced)


def count_no_queue(patch: pytest.MonkeyPatch) -> None:
    """A queue takes any number of messages."""
    patch.setattr(sessions, "refuse_full_queue", lambda *_: None)


def show_all_as_idle(patch: pytest.MonkeyPatch) -> None:
    """Sessions at work are shown as idle."""
    view = views.session_view
    patch.setattr(views, "session_view", lambda row: view({**row, "running": None}))


def take_frames_as_they_come(patch: pytest.MonkeyPatch) -> None:
    """A link neither orders what overtook nor drops what it has seen."""
    patch.setattr(Arrivals, "take", lambda self, frame: ([frame], None))


def end_without_a_reply(patch: pytest.MonkeyPatch) -> None:
    """A turn ends, and what the agent answered is not stored."""
    end = COMMANDS["end_turn"]
    replace_command(patch, "end_turn", lambda db, **told: end(db, **{**told, "reply": None}))


def tell_of_an_end_twice(patch: pytest.MonkeyPatch) -> None:
    """Two events tell of one end."""
    end = COMMANDS["end_turn"]

    def twice(db: sqlite3.Connection, **told: Any) -> Any:
        value = end(db, **told)
        columns = "session, kind, at, message, text"
        db.execute(
            f"INSERT INTO event ({columns}) SELECT {columns} FROM event WHERE cursor = ?", (value["event"],)
        )
        return value

    replace_command(patch, "end_turn", twice)


def start_every_item_at_once(patch: pytest.MonkeyPatch) -> None:
    """A fan-out does not count how many of its items run."""
    patch.setattr(Fanout, "_may_take_up", lambda self: True)


def report_what_is_not_recorded(patch: pytest.MonkeyPatch) -> None:
    """An item's result is told, and not stored."""
    patch.setattr(
        Fanout,
        "_record",
        lambda self, attempt, due: self._report(
            attempt, attempt.result(due.status, due.exit_code, due.reply)
        ),
    )


def forget_that_a_stop_holds(patch: pytest.MonkeyPatch) -> None:
    """A stop is answered, and that it holds the queue is not stored."""
    replace_command(patch, "hold_queue", lambda db, session, at, call=None: {"held_at": at})


def end_what_was_never_acknowledged_as_done(patch: pytest.MonkeyPatch) -> None:
    """A message of which its agent never said a word ends as the turn that it was to join."""
    done = {"status": "done", "stop_reason": "end"}
    plain = turns._unacknowledged
    patch.setattr(turns, "_unacknowledged", lambda at: plain(at) | done)


def forget_the_ends_of_tasks(patch: pytest.MonkeyPatch) -> None:
    """What runs in the background runs for ever."""
    patch.setattr(Background, "ended", lambda *_: None)


def put_away_what_works(patch: pytest.MonkeyPatch) -> None:
    """A session at work is archived or deleted."""
    patch.setattr(Background, "__bool__", lambda _: False)
    patch.setattr(TurnState, "works", False)
    patch.setattr(archiving, "refuse_running", lambda *_: None)


def hand_over_what_a_client_takes(patch: pytest.MonkeyPatch) -> None:
    """A worker gets what waits for an external conversation."""
    patch.setattr(turns_module, "EXTERNAL", "unknown")


def take_what_never_came(patch: pytest.MonkeyPatch) -> None:
    """Messages count as given to a client, and its answer does not have them."""
    offer = ExternalCalls.offer
    patch.setattr(ExternalCalls, "offer", lambda self, call, rows: ([], len(offer(self, call, rows)[0])))


def tell_no_agent_of_its_answer(patch: pytest.MonkeyPatch) -> None:
    """Every other answer is stored, and its agent waits on."""
    numbers = count(1)
    carry_out = SessionCards._carry_out

    def forgetful(self: SessionCards, effect: Any) -> None:
        if not isinstance(effect, card_signals.Tell) or next(numbers) % 2:
            carry_out(self, effect)

    patch.setattr(SessionCards, "_carry_out", forgetful)


def take_every_answer(patch: pytest.MonkeyPatch) -> None:
    """A card that has its end gets another."""
    end = COMMANDS["end_card"]

    def again(db: sqlite3.Connection, *, card: str, **told: Any) -> Any:
        db.execute("UPDATE card SET status = 'pending', ended_at = NULL WHERE id = ?", (card,))
        return end(db, card=card, **told)

    replace_command(patch, "end_card", again)


def show_who_waits_as_working(patch: pytest.MonkeyPatch) -> None:
    """A session that waits on a card is shown as if it worked."""
    patch.setattr(views, "waiting_of", lambda _: None)


def ask_nobody(patch: pytest.MonkeyPatch) -> None:
    """Every third call that needs approval is carried out without it."""
    numbers = count(1)
    is_approved = consent.is_approved

    async def hasty(*told: Any) -> bool:
        return next(numbers) % 3 == 0 or await is_approved(*told)

    patch.setattr(consent, "is_approved", hasty)


def change_settings_unasked(patch: pytest.MonkeyPatch) -> None:
    """An agent changes settings of a session, and nobody is asked."""
    rows_due = consent.rows_due

    async def none_of_updates(context: Any, call: Any, found: Any) -> Any:
        return () if isinstance(call, UpdateSession) else await rows_due(context, call, found)

    patch.setattr(consent, "rows_due", none_of_updates)


def take_no_for_yes(patch: pytest.MonkeyPatch) -> None:
    """A call whose owner says Deny is carried out."""
    patch.setattr(consent, "ALLOWED", ("deny",))


PLANTS: tuple[Plant, ...] = (
    repeat_what_was_cut,
    lose_the_outbox,
    forget_an_end,
    answer_before_it_is_stored,
    send_before_it_is_stored,
    send_what_a_stop_holds,
    last_comes_first,
    let_waits_hang,
    run_a_batch_twice,
    let_the_dead_write,
    count_no_queue,
    show_all_as_idle,
    take_frames_as_they_come,
    end_without_a_reply,
    tell_of_an_end_twice,
    start_every_item_at_once,
    report_what_is_not_recorded,
    forget_that_a_stop_holds,
    end_what_was_never_acknowledged_as_done,
    forget_the_ends_of_tasks,
    put_away_what_works,
    hand_over_what_a_client_takes,
    take_what_never_came,
    tell_no_agent_of_its_answer,
    take_every_answer,
    show_who_waits_as_working,
    ask_nobody,
    take_no_for_yes,
    change_settings_unasked,
)
