"""``showcaller show``: one conversation, newest message last."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.endings import ending_line, with_endings
from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, without_envelope, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.questions import pending_lines
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.session_names import read_session, refuse_empty
from showcaller.transport.doors.cli.states import state_word
from showcaller.transport.doors.cli.task_shown import show_task, task_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import readable, visible

MOST_CHARACTERS = 50_000


@click.command(
    "show",
    cls=Command,
    help="""Show one conversation, and how each of its turns ended.

SESSION is an id, the first six or more characters of one, or a title. Part of
a title is enough when only one session has it.

What runs in the background, or ended within the last hour, stands at the end;
with --task the end of what one of them has written is shown instead.

\b
Examples:
  showcaller show 3f9c2a1e
  showcaller show ses_3f9c2a1e07bd --last 3 --json
  showcaller show 'wc -l setup.py'
  showcaller show 3f9c2a1e --task tsk_07bd19e4c2a1 --lines 200
""",
)
@click.argument("session")
@click.option("--last", type=click.IntRange(1, 50), default=10, show_default=True, help="How many messages.")
@click.option(
    "--task", metavar="ID", help="Show what this background task has written; its id, or how that begins."
)
@click.option("--lines", type=click.IntRange(1, 500), help="How many lines of it at most.  [default: 50]")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write the session and its messages, or the task, as one JSON object.",
)
@home_option
@click.pass_obj
def command(door: Door, session: str, last: int, task: str | None, lines: int | None, as_json: bool) -> int:
    """Show a session, or one of its tasks, and give the exit code."""
    if lines is not None and task is None:
        raise click.UsageError("--lines goes with --task: it counts the lines of what a task has written.")
    refuse_empty(door, session)
    if task is not None:
        return show_task(door, session, task, lines, as_json=as_json)
    with opened(door, read_only=True) as relay:
        result = dict(read_session(relay, door, session, last, max_chars=MOST_CHARACTERS))
        result["messages"] = with_endings(relay, result["session"]["id"], result.get("messages", ()))
    if as_json:
        write(json_line(without_envelope(result)))
        return GOOD
    for line in [*conversation(result), *pending_lines(door, result), *task_lines(door, result)]:
        write(line)
    return GOOD


def conversation(result: Mapping[str, Any]) -> Iterator[str]:
    """Give the lines that show a ``read_session`` result to a person."""
    session = result["session"]
    yield f"{visible(str(session.get('title') or 'untitled'))}  ({session['id']})"
    yield f"state: {state_word(session)}"
    for label, value in _facts(session):
        yield f"{label}: {visible(str(value))}"
    for message in result.get("messages", ()):
        yield ""
        yield _heading(message)
        yield readable(str(message.get("text") or "")).rstrip("\n")
        ending = ending_line(message)
        if ending:
            yield ending
    writing = result.get("inFlight")
    if writing:
        yield f"\n{local_time(str(writing.get('startedAt')))}  still writing"
        yield readable(str(writing.get("text") or "")).rstrip("\n")
    if result.get("pendingQuestions"):
        yield "\nwaiting for you:"


def _facts(session: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    group = session.get("group") or {}
    facts = {
        "provider": session.get("provider"),
        "model": session.get("model"),
        "folder": session.get("cwd"),
        "group": group.get("name") or group.get("id"),
        "last activity": local_time(str(session.get("lastActivityAt") or "")),
    }
    return ((label, value) for label, value in facts.items() if value)


def _heading(message: Mapping[str, Any]) -> str:
    parts = [local_time(str(message.get("at") or "")), str(message.get("role") or "")]
    if message.get("via"):
        parts.append(f"via {message['via']}")
    if message.get("truncated"):
        parts.append("(cut)")
    return visible("  ".join(parts))
