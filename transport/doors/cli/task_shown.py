"""What runs in the background of a session, as ``show`` tells of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from showcaller.transport.doors.cli.exits import GOOD, CommandError, checked, several
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_names import read_session
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import readable, visible

USUAL_LINES: Final = 50
SHORTEST: Final = 4
"""Characters of an id, after its prefix, that name a task at least."""
_PREFIX: Final = "tsk_"


def task_lines(door: Door, result: Mapping[str, Any]) -> Iterator[str]:
    """Give the lines that tell of the tasks in a ``read_session`` result, and how to see more of one."""
    tasks = result.get("tasks", ())
    if tasks:
        yield "\nin the background:"
    for task in tasks:
        health = task.get("health") or {}
        quiet = f", quiet for {health['minutesSinceOutput']} min" if health.get("quiet") else ""
        counts = f", {_counted(task['counts'])}" if task.get("counts") else ""
        described = visible(str(task["description"]))
        yield f"  {task['id']}  {visible(str(task['status']))}{quiet}{counts}  {described}"
    if tasks:
        session = str(result["session"]["id"])
        yield f"to see what one has written: {door.command_line('show', session, '--task', tasks[-1]['id'])}"


def show_task(door: Door, name: str, task: str, lines: int | None, *, as_json: bool) -> int:
    """Show the end of what a task has written, and give the exit code; raises ``CommandError``."""
    with opened(door, read_only=True) as relay:
        known = read_session(relay, door, name, 1)
        session, named = str(known["session"]["id"]), _meant(task.strip(), known.get("tasks", ()))
        reading = {"action": "read_task_output", "relay": "this", "session": session, "task_id": named}
        try:
            result = checked(relay.call(reading | {"lines": lines or USUAL_LINES}))
        except CommandError as error:
            error.way_out = f"To see which there are: {door.command_line('show', session)}"
            raise
    if as_json:
        write(json_line(without_envelope(result)))
        return GOOD
    for line in _told(result):
        note(line)
    for line in result["tail"]:
        write(readable(line))
    return GOOD


def _meant(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    """Give the id of the task that a name means: the whole, or how it begins; raises ``CommandError``."""
    start = name if name.startswith(_PREFIX) else f"{_PREFIX}{name}"
    if len(start) < len(_PREFIX) + SHORTEST:
        return name
    found = [task for task in tasks if str(task["id"]).startswith(start)]
    if len(found) > 1:
        raise several(name, "tasks", [(str(task["id"]), str(task["description"])) for task in found])
    return str(found[0]["id"]) if found else name


def _told(result: Mapping[str, Any]) -> Iterator[str]:
    task = result["task"]
    code = "" if task.get("exitCode") is None else f", exit code {task['exitCode']}"
    yield f"{visible(str(task['description']))}  ({task['id']})"
    yield f"{visible(str(task['status']))}{code}, since {local_time(str(task['startedAt']))}"
    stall = result.get("stall") or {}
    if stall.get("minutes"):
        yield f"nothing was written for {stall['minutes']} min"
    if result.get("counts"):
        yield _counted(result["counts"])
    if result.get("note"):
        yield str(result["note"])
    if result.get("truncated"):
        yield "These are the last lines:"


def _counted(counts: Mapping[str, Any]) -> str:
    parts = [f"{counts[name]:,} {name}" for name in ("passed", "failed", "skipped") if counts.get(name)]
    return f"{visible(str(counts['runner']))}: {', '.join(parts) or 'no tests yet'}"
