"""The process that opened a relay: only there it runs, and one that was forked has none of its threads."""

import os

from showcaller.actors.contract.errors import Code, Refusal


class Opener:
    """Remembers the process in which it was made."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether this is that process, and not one that was forked from it."""
        return self._process == os.getpid()

    def check(self) -> None:
        """Raise ``Refusal`` in a process that was forked, where whatever is asked would wait for ever."""
        if not self.is_here:
            raise forked()


def forked() -> Refusal:
    """Give the refusal of what is asked in a forked process."""
    return Refusal(
        Code.UNAVAILABLE,
        "This process was forked from the one that opened this relay, and the relay runs there alone: use it "
        'there, or start this process afresh (multiprocessing calls that "spawn") and have it ask that one.',
    )
