"""How a future is made of others: by being pushed what they end in, or by getting it if they have a hook."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pykka

from showcaller.actors.runtime.choices import is_a

if TYPE_CHECKING:
    from showcaller.actors.runtime.futures import Future


class Derivation:
    """A callback of the first source that is not done, then of the next, until the derived future is decided.

    As in pykka, the first error in the order of the sources is the outcome, and those behind it are not
    waited for. It stands at one source at a time, so only one thread runs it at a time.
    """

    __slots__ = ("_at", "_derived", "_function", "_sources")

    def __init__(
        self, derived: "Future[Any]", sources: "Sequence[Future[Any]]", function: Callable[[list[Any]], Any]
    ) -> None:
        """``function`` is called with the list of the sources' values and gives the derived one."""
        self._derived = derived
        self._sources = sources
        self._function = function
        self._at = 0

    def __call__(self, _: "Future[Any] | None" = None) -> "Future[Any] | None":
        """Go on as far as possible; gives the derived future if it was decided and is to be announced.

        Whoever completed the source announces it (``Future.announce``), not we: so a long chain of derived
        futures is a loop and no recursion.
        """
        sources = self._sources
        if self._derived._hook is not None:
            return None  # ``get()`` computes it, once
        while self._at < len(sources):
            source = sources[self._at]
            if not source.done:
                source.add_done_callback(self)
                if source._hook is not None:  # who sets it looks for us second: one of us sees the other
                    self.hook()
                return None
            if source._error is not None:
                return self._derived.decide(None, source._error)
            self._at += 1
        try:
            value = self._function([source._value for source in sources])
        except BaseException as error:  # pykka raises it from get(): it belongs to who asks for the value
            return self._derived.decide(None, (type(error), error, error.__traceback__))
        return self._derived.decide(value, None)

    def hook(self) -> None:
        """Let ``get()`` compute the derived value, as it computes that of a source."""
        self._derived.try_set_get_hook(self._compute)

    def _compute(self, timeout: float | None) -> Any:
        return self._function([source.get(timeout=timeout) for source in self._sources])


__all__ = ["Derivation"]


def getter_of(sources: "Sequence[pykka.Future[Any]]") -> Callable[[float | None], list[Any]]:
    """Give a hook that gets all of them, or raise ``TypeError`` if one is no future at all."""
    for source in sources:
        if not is_a(source, pykka.Future):
            raise TypeError(f"{source!r} cannot be joined: give futures")
    return lambda timeout: [source.get(timeout=timeout) for source in sources]
