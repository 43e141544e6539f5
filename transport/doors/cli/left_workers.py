"""Workers that a relay has left which does not run any more, as a person and a program read of them."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.summaries import counted
from showcaller.transport.doors.cli.relay import Door, LeftWorker


def told_of(left: Sequence[LeftWorker]) -> str:
    """Say how many there are, in which processes, and what they have; a sentence without its end."""
    processes = [str(worker.process) for worker in left if worker.process is not None]
    named = f" ({'process' if len(processes) == 1 else 'processes'} {', '.join(processes)})"
    there = f"{counted(len(left), 'worker')} that a relay has left {'is' if len(left) == 1 else 'are'} there"
    return f"{there}{named if processes else ''}, with {_what_they_have(left)}"


def _what_they_have(left: Sequence[LeftWorker]) -> str:
    turns = sum(len(worker.turns or ()) for worker in left)
    if any(worker.turns is None for worker in left):
        return f"{counted(turns, 'turn')} and what cannot be told" if turns else "what cannot be told"
    return counted(turns, "turn") if turns else "nothing to do"


def ways_out(door: Door) -> str:
    """Say how their work is gone on with, and how they end."""
    return (
        f"To go on with them: {door.command_line('serve')}. "
        f"To end them, and what they run: {door.command_line('stop', '--workers')}"
    )


def workers_json(left: Sequence[LeftWorker]) -> list[dict[str, Any]]:
    """Give them as plain values; what cannot be told is left out."""
    return [
        {
            "name": worker.name,
            **({} if worker.process is None else {"pid": worker.process}),
            **({} if worker.turns is None else {"turns": list(worker.turns)}),
        }
        for worker in left
    ]
