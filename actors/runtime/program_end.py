"""The end of a program whose actors still have mail.

A program waits for its actors' mail twice: before Python joins the program's own threads, and once more
when those have ended, since they may have told more. A Ctrl-C before or during the first wait means that
nobody wants to wait. It may hit Python's own code between the end of the main module and our waiting; then
the first wait never ends, and so the second is left out. A program that makes its first dispatcher when
its main module has ended waits once; one that makes it in a function of ``atexit`` has to wait itself.

Who works on nevertheless, after a Ctrl-C or as a daemon, is halted between two slices before Python ends.
"""

import atexit
import os
import sys
import threading
import weakref
from typing import Protocol

from showcaller.actors.runtime.unfailing_log import UnfailingLogger

logger = UnfailingLogger("showcaller.actors")

# Seconds. A signal that comes just before a thread begins to sleep on a lock does not wake it: Python raises
# KeyboardInterrupt only when the sleep ends.
INTERRUPTIBLE = 0.2
HALTING = 0.2  # seconds for the slices under way, before Python ends


class HasMail(Protocol):
    """What a program waits for."""

    def wait_quiet(self, timeout: float | None = None) -> bool:
        """Wait until no actor has mail; False at the timeout (seconds)."""
        raise NotImplementedError

    def halt(self, seconds: float) -> None:
        """Run no slice more, and wait so long for those that run; nothing while there is none."""


class ProgramEnd:
    """Who must fall quiet before the program ends. Once per process."""

    def __init__(self) -> None:
        self._registered = False
        self.forget_all()

    def forget_all(self) -> None:
        """Wait for nobody: the threads of a dispatcher do not survive a fork."""
        self._lock = threading.RLock()
        self._dispatchers: weakref.WeakSet[HasMail] = weakref.WeakSet()
        self._waits_again = False

    def wait_for(self, dispatcher: HasMail) -> None:
        """Let the program end only when this one is quiet. Thread-safe; keeps nothing alive."""
        with self._lock:
            self._dispatchers.add(dispatcher)
            register, self._registered = not self._registered, True
        if register:
            self._register()

    def dispatchers(self) -> list[HasMail]:
        """Those that there are. Thread-safe."""
        with self._lock:
            return list(self._dispatchers)

    def _register(self) -> None:
        atexit.register(self._finish_last_mail)
        # What concurrent.futures does as well; where Python has it no longer, or when the main module has
        # ended, both waits come one after the other.
        try:
            threading._register_atexit(self._finish_mail)  # type: ignore[attr-defined]
        except (AttributeError, RuntimeError):
            atexit.register(self._finish_mail)

    def _finish_mail(self) -> None:
        """Let the program end only when its actors have handled their mail; Ctrl-C ends it before."""
        self._waits_again = False
        if issubclass(getattr(sys, "last_type", None) or object, KeyboardInterrupt):
            return
        try:
            while not self._all_quiet():
                pass
        except KeyboardInterrupt:
            logger.info("Interrupted while actors had mail: it is dropped")
        else:
            self._waits_again = True

    def _all_quiet(self) -> bool:
        """Wait a moment for each; True when all were quiet, and still are, since they tell each other."""
        dispatchers = self.dispatchers()
        return all(each.wait_quiet(INTERRUPTIBLE) for each in dispatchers) and all(
            each.wait_quiet(0) for each in dispatchers
        )

    def _finish_last_mail(self) -> None:
        """Do the same for what the program's threads have told since, and halt who works on."""
        if self._waits_again:
            self._finish_mail()
        try:
            for dispatcher in self.dispatchers():
                dispatcher.halt(HALTING)
        except KeyboardInterrupt:
            logger.info("Interrupted while actors were halted")


PROGRAM_END = ProgramEnd()
os.register_at_fork(after_in_child=PROGRAM_END.forget_all)
