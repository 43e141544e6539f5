"""Who waits for whom: from a future to who owes it, and on to what that one waits for.

Read while the others go on, so a step may be wrong as soon as it is taken. A way that is found twice was
there at one moment, the one between the looks.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from showcaller.actors.runtime.debts import Debt
from showcaller.actors.runtime.errors import AskCycle
from showcaller.actors.runtime.handler import Handler

if TYPE_CHECKING:
    import asyncio

    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher
    from showcaller.actors.runtime.cell import Cell
    from showcaller.actors.runtime.futures import Future
    from showcaller.actors.runtime.ref import ActorRef

# The replies that are waited for, each with the actor that owes it.
Path = list[tuple["Future[Any]", "Cell"]]

_Step = tuple["Future[Any]", "Cell", Any]  # a reply, who owes it, and the step before


class Undertaking:
    """Owes what comes of a supervisor's work: that waits for the child which starts or stops just now."""

    __slots__ = ("child",)

    def __init__(self, child: "Callable[[], Cell | None]") -> None:
        """``child`` gives whom the work waits for, None if for nobody; called from any thread."""
        self.child = child


class LoopWork:
    """Owes what a coroutine on an asyncio loop ends in: that waits while the thread of the loop blocks."""

    __slots__ = ("loop",)

    def __init__(self, loop: "asyncio.AbstractEventLoop") -> None:
        self.loop = loop


# What the threads block for that run asyncio loops.
BLOCKED_LOOPS: "dict[asyncio.AbstractEventLoop, Future[Any] | None]" = {}

MOST_NAMED = 10  # actors of a cycle from its beginning on, and as many of its end


class TooLong(Exception):
    """There is more to look at than was asked for."""


def lasting_path(start: "Future[Any]", target: object, most: int | None = None) -> Path | None:
    """Find the way from a future to a cell or handler that owes it in the end, or round to itself.

    Looks twice, for who owed a reply may have handed it on before it waited. Raises ``TooLong`` when more
    than ``most`` futures are to be looked at.
    """
    path = _path(start, target, most)
    return path if path is not None and path == _path(start, target, None) else None


def _path(start: "Future[Any]", target: object, most: int | None) -> Path | None:
    seen: set[Future[Any]] = set()
    paths: list[tuple[Future[Any], _Step | None]] = [(start, None)]
    while paths:
        future, step = paths.pop()
        if future is target and step is not None:
            return _steps_to(step)
        if future in seen:
            continue
        seen.add(future)
        if most is not None and len(seen) > most:
            raise TooLong
        owner, following = owner_of(future)
        if owner is not None:
            step = (future, owner, step)
            if _is_meant(future.answerer, owner, target):
                return _steps_to(step)
        for other in following:
            paths.append((other, step))  # noqa: PERF401 - mostly one
    return None


def _is_meant(answerer: Any, owner: "Cell", target: object) -> bool:
    if answerer is target or owner is target:
        return True
    return (
        type(answerer) is Undertaking and type(target) is Handler and target.starting and target.cell is owner
    )


def _steps_to(last: _Step) -> Path:
    path: Path = []
    step: _Step | None = last
    while step is not None:
        path.append((step[0], step[1]))
        step = step[2]
    return path[::-1]


def owner_of(future: "Future[Any]") -> "tuple[Cell | None, Iterable[Future[Any]]]":
    """Give who owes a future, if that is one actor, and the futures that must come before it."""
    answerer = future.answerer
    kind = type(answerer)
    if answerer is None or kind is Debt or future.done:  # whoever has taken a reply over waits for nobody
        return None, ()
    if kind is tuple:  # of derived futures: all of them must come
        return None, answerer
    if kind is LoopWork:
        blocks = BLOCKED_LOOPS.get(answerer.loop)
        return None, () if blocks is None else (blocks,)
    if kind is Undertaking:
        child = answerer.child()
        return child, () if child is None else _keeps_busy(child)
    if kind is Handler:
        alone, waits = answerer.waits_for, waits_of(answerer.cell)
        return answerer.cell, [wait for wait in (waits, alone) if wait is not None]
    waits = waits_of(answerer)
    return answerer, () if waits is None else (waits,)


def all_before(future: "Future[Any]") -> "Iterator[tuple[Future[Any], Cell | None]]":
    """Give a future and all that must come before it, each once, with the actor that owes it."""
    return _walk(future, lambda _: True)


def owners_of(future: "Future[Any]") -> "Iterator[Cell]":
    """Give the actors that owe a future, or the futures it is derived from, whatever they wait for."""
    owners = _walk(future, lambda each: type(each.answerer) is tuple)
    return (owner for _, owner in owners if owner is not None)


def _walk(
    future: "Future[Any]", goes_on: "Callable[[Future[Any]], bool]"
) -> "Iterator[tuple[Future[Any], Cell | None]]":
    seen: set[Future[Any]] = set()
    ahead = [future]
    while ahead:
        following = ahead.pop()
        if following in seen:
            continue
        seen.add(following)
        owner, before = owner_of(following)
        yield following, owner
        if goes_on(following):
            ahead += before


def owner_elsewhere(future: "Future[Any]", dispatcher: "BaseDispatcher") -> "Cell | None":
    """Give an actor of another dispatcher that owes a future or what must come before it, if there is one."""
    owners = (owner for _, owner in all_before(future) if owner is not None)
    return next((owner for owner in owners if owner._dispatcher is not dispatcher), None)


def _keeps_busy(child: "Cell") -> "list[Future[Any]]":
    """Give what a child waits for that starts or stops: its ``on_start`` may wait beside other handlers.

    Of a supervisor that stops its own children that too: its work waits for one of them.
    """
    extras = child._extras
    pending = () if extras is None or extras.pending is None else list(extras.pending)
    waits = [waits_of(child), *(handler.waits_for for handler in pending if handler.starting)]
    actor: Any = child._actor
    work: Any = getattr(actor, "_work", None)
    if type(getattr(work, "answerer", None)) is Undertaking and actor._ending:
        waits.append(work)
    return [wait for wait in waits if wait is not None]


def waits_of(cell: "Cell") -> "Future[Any] | None":
    """Give what holds a cell from its mail, if that is a future."""
    hold = cell._hold
    waits_for: Future[Any] | None = None if hold is None else hold.waits_for
    return waits_for


def error_of(waits: "Cell", path: Path) -> AskCycle:
    """Give the error that names who waits for whom, from ``waits`` on, alike in every run with one seed."""
    owners = [answerer for _, answerer in path]
    blocks = list(BLOCKED_LOOPS.values())
    for reply, owner in path:
        if reply in blocks:
            return AskCycle(
                "no reply can come while the loop that is to run the coroutine is blocked until "
                f"{_names([owner])[0]} answers: await that there (ref.request), instead of get() or ask()"
            )
    if not waits.counters.actor_class.reentrant and all(owner is waits for owner in owners):
        return AskCycle(
            f"no reply can come while {_names([waits])[0]} waits for itself: call the method itself, or "
            "await the reply and let it take other messages meanwhile (`reentrant = True` in its class)",
            [cast("ActorRef[Any]", waits)],
        )
    names = " → ".join(_few(_names([waits, *owners])))
    return AskCycle(
        f"no reply can come while each waits for the next: {names}",
        [cast("ActorRef[Any]", cell) for cell in [waits, *owners[:-1]]],
    )


def _names(cells: "list[Cell]") -> list[str]:
    """Name actors by their classes, several of one class by numbers too: so a run repeated says the same."""
    of_class: dict[str, dict[Cell, int]] = {}
    for cell in cells:
        alike = of_class.setdefault(cell.counters.actor_class.__name__, {})
        alike.setdefault(cell, len(alike) + 1)
    names = {
        cell: name if len(alike) == 1 else f"{name} #{number}"
        for name, alike in of_class.items()
        for cell, number in alike.items()
    }
    return [names[cell] for cell in cells]


def _few(names: list[str]) -> list[str]:
    """Leave out those between the first and the last, if they are many."""
    left_out = len(names) - 2 * MOST_NAMED
    return names if left_out <= 0 else [*names[:MOST_NAMED], f"({left_out} more)", *names[-MOST_NAMED:]]


def chain(cell: "Cell", longest: int = 10) -> str:
    """Name the actors that wait for one another, from ``cell`` on."""
    names = [str(cell)]
    future = waits_of(cell)
    while future is not None and len(names) < longest:
        owner, following = owner_of(future)
        if owner is not None:
            names.append(str(owner))
        before = list(following)
        future = before[-1] if owner is not None and before else before[0] if len(before) == 1 else None
    return " → ".join(names)
