"""The locks that there are once per process, kept whole through a fork."""

import os

import pykka

from showcaller.actors.runtime.extras import extras_lock
from showcaller.actors.runtime.long_waits import lock as looking

# In the order in which a thread takes them that takes several.
_LOCKS = (pykka.ActorRegistry._actor_refs_lock, looking, extras_lock)


def hold_locks_while_forking() -> None:
    """Let no fork happen while another thread holds a lock: in the child nobody would ever let go of it."""
    os.register_at_fork(before=_take, after_in_parent=_let_go, after_in_child=_let_go)


def _take() -> None:
    for lock in _LOCKS:
        lock.acquire()


def _let_go() -> None:
    for lock in reversed(_LOCKS):
        lock.release()
