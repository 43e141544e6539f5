"""Doing something in a call at each place where Python looks for signals, as a signal handler may."""

import dis
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import showcaller.actors.runtime as runtime

_OURS = str(Path(runtime.__file__).parent)
# Python looks for signals after a call, at the start of a function and when it jumps back.
_LOOKS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX", "RESUME", "JUMP_BACKWARD"})


class Interrupt(BaseException):
    """What the signal handler raises."""


def interrupt() -> None:
    """Raise, as Ctrl-C does."""
    raise Interrupt


class Interrupter:
    """Handles a signal at the ``at``-th look for one in the runtime's own code on this thread."""

    def __init__(self, at: int, handle: Callable[[], object] = interrupt) -> None:
        self.at = at
        self.handle = handle
        self.looks = 0
        self._previous: dict[FrameType, str] = {}

    def interrupts(self, call: Callable[[], object]) -> bool:
        """Make the call; False when it ended before the signal was due."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            call()
        except Interrupt:
            return True
        finally:
            sys.settrace(before)
        return self.looks >= self.at

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._opcode

    def _opcode(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "opcode":
            return self._opcode
        previous = self._previous.get(frame)
        self._previous[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        if previous in _LOOKS:
            self.looks += 1
            if self.looks == self.at:
                self.handle()
        return self._opcode
