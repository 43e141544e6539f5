"""pykka's proxy over an actor that may live more than once."""

from typing import Any, TypeVar

import pykka
from pykka._introspection import introspect_attrs

A = TypeVar("A", bound=pykka.Actor)


class Proxy(pykka.ActorProxy[A]):
    """Shows what the actor's present life has as well, if it was restarted since the proxy was made."""

    def __getattr__(self, name: str) -> Any:
        self._look_again()
        found = super().__getattr__(name)
        if type(found) is pykka.ActorProxy:
            path = found._attr_path
            found = self._actor_proxies[path] = Proxy(actor_ref=self.actor_ref, attr_path=path)
        return found

    def __dir__(self) -> list[str]:
        self._look_again()
        return super().__dir__()

    def _look_again(self) -> None:
        """Learn what the present life has; what an earlier one had, it may be about to get."""
        actor: Any = self.actor_ref._actor_weakref()
        if actor is not None and actor is not self._actor:
            self._actor = actor
            self._known_attrs = {**self._known_attrs, **introspect_attrs(root=actor, proxy=self)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, pykka.ActorProxy):
            return False
        return bool(self.actor_ref == other.actor_ref) and self._attr_path == other._attr_path

    def __hash__(self) -> int:
        return hash((self.actor_ref, self._attr_path))


__all__ = ["Proxy"]
