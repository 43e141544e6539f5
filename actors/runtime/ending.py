"""The end of an actor's life: hooks, who is told, what becomes of its mail, and whether its ref is kept.

Everything here is called by whoever holds the cell's gate, and ends with the gate let go.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import pykka

from showcaller.actors.runtime.context import Turn, here
from showcaller.actors.runtime.debts import end_of
from showcaller.actors.runtime.envelope import ActorStop, Envelope, OwnMail, Shutdown, StopAsk
from showcaller.actors.runtime.exits import KILLED, NORMAL, SHUTDOWN, DeadLetter, Exit, Terminated
from showcaller.actors.runtime.extras import extras_lock
from showcaller.actors.runtime.handler import LIMBO, Handler, break_off
from showcaller.actors.runtime.lineage import ChildExited, ChildStarted, Link
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.cell import Cell

logger = UnfailingLogger("pykka")


def _link(cell: "Cell") -> Link | None:
    return None if cell._extras is None else cell._extras.link


def started(cell: "Cell") -> None:
    """Report to the supervisor, if there is one, that ``on_start`` has ended well."""
    link = _link(cell)
    if link is not None:
        link.supervisor.post(ChildStarted(cell))


def stop(cell: "Cell", actor: "Actor", order: Any, rest: Iterable[Any]) -> bool:
    """Carry out an order to stop; False when the slice is over, True when the actor wants to end later."""
    kind = type(order)
    if (kind is Shutdown and order.void) or actor._puts_off_stop(order):
        return True
    logger.debug("Stopped %s", actor)
    if kind is Shutdown:
        end(cell, actor, SHUTDOWN, rest, hook=actor.on_stop, keep=order.keep)
    else:
        end(cell, actor, NORMAL, rest, hook=actor.on_stop)
    if kind is Envelope or kind is StopAsk:
        order.reply.try_set(order.stopped)
    return False


def fail(
    cell: "Cell", actor: "Actor", error: BaseException, rest: Iterable[Any], *, starting: bool = False
) -> None:
    """End a life because its code raised: report, then ``on_failure`` (not for ``on_start``), as pykka does.

    What is no ``Exception`` stops every actor, as in pykka; below a supervisor only ``KeyboardInterrupt``
    and ``SystemExit`` go beyond the child.
    """
    if _goes_beyond(cell, error):
        _end_with_all(cell, actor, error, rest, starting=starting)
        return
    _report(actor, error)
    cell.counters.failures += 1

    def on_failure() -> None:
        actor.on_failure(type(error), error, error.__traceback__)

    reason = Exit("unstarted" if starting else "failed", error)
    end(cell, actor, reason, rest, hook=None if starting else on_failure)


def _goes_beyond(cell: "Cell", error: BaseException) -> bool:
    """Whether other actors than this one are to end by what its code raised."""
    if isinstance(error, Exception):
        return False
    return _link(cell) is None or isinstance(error, KeyboardInterrupt | SystemExit)


def _end_with_all(
    cell: "Cell", actor: "Actor", error: BaseException, rest: Iterable[Any], *, starting: bool
) -> None:
    logger.debug("%r in %s. Stopping all actors.", error, actor)
    logger.debug("Stopped %s", actor)
    end(cell, actor, Exit("failed", error), rest, hook=None if starting else actor.on_stop, keep=False)
    _stop_all(cell)


def _stop_all(cell: "Cell") -> None:
    link = _link(cell)
    if link is not None:
        link.root().post(Shutdown(keep=False))
    pykka.ActorRegistry.stop_all(block=False)


def end(
    cell: "Cell",
    actor: "Actor",
    reason: Exit,
    rest: Iterable[Any],
    *,
    hook: Callable[[], object] | None = None,
    keep: bool | None = None,
    report: bool = True,
) -> None:
    """End a life: for good, or keep ref and mailbox for another one (``keep``; None: as the link says).

    ``report`` False spares the supervisor the news, and its own doing.
    """
    link = _link(cell)
    kept = link is not None and (link.restarts(reason) if keep is None else keep)
    held = _set_aside(cell) if kept else _close(cell, actor, reason)
    _drop_handlers(cell, actor, held)
    if hook is not None:
        _run_hook(cell, actor, hook)
    _kill_children(cell)
    if reason.error is not None:
        # It has been reported, and would keep every frame alive. (Not by assignment: errors may be frozen.)
        BaseException.with_traceback(reason.error, None)
    if kept:
        cell.put_back(rest)
    else:
        _bury(cell, reason, rest)
    if link is not None and report:
        link.supervisor.post(ChildExited(cell, reason, kept=kept))
    _run_hook(cell, actor, lambda: actor._life_over(reason))
    _end_what_it_began(cell, actor, reason)
    cell.let_go()


def end_unborn(cell: "Cell", actor: "Actor", error: BaseException) -> None:
    """End what has a ref and was not made: nobody else runs it, and the error is its maker's to report."""
    traceback = error.__traceback__
    end(cell, actor, Exit("unstarted", error), (), keep=False)
    BaseException.with_traceback(error, traceback)


def _set_aside(cell: "Cell") -> Any:
    """Let mail wait for the next life; gives what the cell was held by."""
    cell._hold, held = LIMBO, cell._hold
    return held


def _bury(cell: "Cell", reason: Exit, rest: Iterable[Any]) -> None:
    """Refuse the mail that is there, and tell who watches; the supervisor knows of no such child any more."""
    unhandled = list(rest)
    cell.counters.messages -= len(unhandled)
    _refuse(cell, unhandled)
    _refuse(cell, cell.take_all())
    _announce(cell, reason)
    link = _link(cell)
    if link is not None:
        _forget_child(link.supervisor, cell)


def _end_what_it_began(cell: "Cell", actor: "Actor", reason: Exit) -> None:
    """End the timers that the life has set for itself, and the replies that it has taken over."""
    extras = cell._extras
    if extras is None:
        return
    for timer in list(extras.timers or ()):
        timer.cancel()
    for debt in list(extras.owed or ()):
        error = end_of(cell, reason)
        _run_hook(cell, actor, partial(debt.end, error))


def _close(cell: "Cell", actor: "Actor", reason: Exit) -> Any:
    """Let new mail be refused from now on; gives what the cell was held by."""
    if reason is not NORMAL:
        cell.extras().exit = reason
    held, cell._hold = cell._hold, None
    cell._actor = None
    actor._unregister()
    with extras_lock:
        stopped = None if cell._extras is None else cell._extras.stopped
    if stopped is not None:
        stopped.set()
    return held


def _announce(cell: "Cell", reason: Exit) -> None:
    with extras_lock:
        extras = cell._extras
        if extras is None:
            return
        watches, extras.watches = extras.watches or (), None
        watchers, extras.watchers = extras.watchers or (), None
        for watched in watches:
            watched.extras().no_longer_watched_by(cell)
        for watcher in watchers:
            watcher.extras().no_longer_watches(cell)
    for watcher in watchers:
        watcher.post(Terminated(cell, reason))


def _run_hook(cell: "Cell", actor: "Actor", hook: Callable[[], object]) -> None:
    try:
        hook()
    except Exception as error:
        _report(actor, error)
    except BaseException as error:
        _report(actor, error)
        if _goes_beyond(cell, error):
            _stop_all(cell)


def _report(actor: "Actor", error: BaseException) -> None:
    logger.error("Unhandled exception in %s:", actor, exc_info=(type(error), error, error.__traceback__))


# -- what is left over ---------------------------------------------------------------------------------


def _drop_handlers(cell: "Cell", actor: "Actor", held: Any) -> None:
    """End the coroutines that wait: their ``finally`` blocks run, who waits for them gets an error."""
    waiting: list[Handler] = [held] if type(held) is Handler else []
    cell._dispatcher.suspended.pop(cell, None)
    extras = cell._extras
    if extras is not None and extras.pending:
        waiting += extras.pending
        extras.pending = None
    for handler in waiting:
        _drop(cell, actor, handler)


def _drop(cell: "Cell", actor: Any, handler: Handler) -> None:
    handler.alive = False
    handler.forget_wait()
    outer, here.turn = here.turn, Turn()  # should it await once more, that is told it is driven
    here.turn.runnable, here.turn.handled = cell, handler  # and if it blocks, the others go on
    try:
        handler.context.run(handler.coroutine.close)
    except BaseException as error:
        _report(actor, error)
    finally:
        here.turn = outer
    if handler.envelope is not None and handler.envelope.reply is not None:
        handler.envelope.reply.try_set_exception(pykka.ActorDeadError(f"{cell} ended before it answered"))


def _kill_children(cell: "Cell") -> None:
    extras = cell._extras
    if extras is None or not extras.children:
        return
    with extras_lock:
        children, extras.children = extras.children, None
    for child in children:
        child.post_system(ORPHANED)
        break_off(child)


class Orphaned:
    """An order to end for good because the supervisor was killed: nobody is left to look after the child.

    It stays in the mail until the end is over, so what the child does then may not wait in ``get()`` either.
    """

    __slots__ = ()
    breaks_off = True

    def carry_out(self, cell: "Cell", actor: "Actor") -> bool:
        """Kill, or give up a ref that waits for its next life; False, as the slice is over."""
        cell.post_system(self)
        unborn = cell._hold is LIMBO
        end(cell, actor, SHUTDOWN if unborn else KILLED, (), keep=False, report=False)
        return False


ORPHANED = Orphaned()


def _forget_child(supervisor: "Cell", child: "Cell") -> None:
    with extras_lock:
        children = supervisor.extras().children
        if children is not None:
            children.pop(child, None)


def refuse_all(cell: "Cell") -> int:
    """Refuse all mail of a dead actor, and let go of the gate; gives 0, the number of messages handled."""
    _refuse(cell, cell.take_all())
    while cell._system:
        cell._system.pop(0)  # whatever was ordered; coroutines have been dropped at the end
    cell.let_go()
    return 0


def _refuse(cell: "Cell", mail: Iterable[Any]) -> None:
    for message in mail:
        if issubclass(type(message), Envelope):
            _refuse_ask(cell, message)
        elif not is_own(message):
            cell._dispatcher.dead_letter(cell, message)


def is_own(message: Any) -> bool:
    """True for the runtime's own mail: no loss when nobody handles it, and it always finds room."""
    kind = type(message)  # not isinstance: that asks a message for its __class__, which may raise
    if issubclass(kind, Envelope):
        return is_own(message.message)
    return kind is ActorStop or issubclass(kind, OwnMail | Terminated | DeadLetter)


def _refuse_ask(cell: "Cell", envelope: Envelope) -> None:
    if envelope.reply is None:
        return
    if is_own(envelope.message):
        envelope.reply.try_set(envelope.stopped)
    else:
        envelope.reply.try_set_exception(_unhandled(cell))


def _unhandled(cell: "Cell") -> pykka.ActorDeadError:
    reason = NORMAL if cell._extras is None else cell._extras.exit or NORMAL
    if reason is NORMAL:
        return pykka.ActorDeadError(f"{cell} stopped before handling the message")
    error = pykka.ActorDeadError(f"{cell} ended before it handled the message: {reason}")
    error.__cause__ = reason.error
    return error
