"""``showcaller show``: one conversation, newest message last."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from showcaller.transport.doors.cli.commands.sessions import list_sessions
from showcaller.transport.doors.cli.endings import ending_line, with_endings
from showcaller.transport.doors.cli.exits import FAILED, GOOD, NOT_FOUND, CommandError, checked
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.states import state_word
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import readable, visible

MOST_CHARACTERS = 50_000
MOST_CANDIDATES = 100
CANDIDATES_SHOWN = 10
_ID_FORM = re.compile(r"(ses_)?[0-9a-z]{6,12}")
_ENVELOPE = frozenset({"ok", "relay", "summary"})


@click.command(
    "show",
    cls=Command,
    help="""Show one conversation, and how each of its turns ended.

SESSION is an id, the first six or more characters of one, or a title. Part of
a title is enough when only one session has it.

\b
Examples:
  showcaller show 3f9c2a1e
  showcaller show ses_3f9c2a1e07bd --last 3 --json
  showcaller show 'wc -l setup.py'
""",
)
@click.argument("session")
@click.option("--last", type=click.IntRange(1, 50), default=10, show_default=True, help="How many messages.")
@click.option(
    "--json", "as_json", is_flag=True, help="Write the session and its messages as one JSON object."
)
@home_option
@click.pass_obj
def command(door: Door, session: str, last: int, as_json: bool) -> int:
    """Show a session and give the exit code."""
    if door.is_empty:
        raise CommandError(f"No session {session!r}: {door.home} holds none.", code=NOT_FOUND)
    with opened(door, read_only=True) as relay:
        result = dict(read_session(relay, door, session, last))
        result["messages"] = with_endings(relay, result["session"]["id"], result.get("messages", ()))
    if as_json:
        write(json_line({name: value for name, value in result.items() if name not in _ENVELOPE}))
        return GOOD
    for line in conversation(result):
        write(line)
    return GOOD


def read_session(relay: LocalRelay, door: Door, name: str, last: int) -> Mapping[str, Any]:
    """Read the session of that id, beginning of an id, or title.

    Raises ``CommandError`` when there is none, or several.
    """
    if _ID_FORM.fullmatch(name.strip()):
        result = relay.call(_reading(name.strip(), last))
        if result.get("code") != "REMOTE_RELAY_NOT_FOUND":
            return checked(result)
    return checked(relay.call(_reading(_by_title(relay, door, name), last)))


def _reading(session: str, last: int) -> dict[str, Any]:
    return {
        "action": "read_session",
        "relay": "this",
        "session": session,
        "last": last,
        "max_chars": MOST_CHARACTERS,
    }


def _by_title(relay: LocalRelay, door: Door, title: str) -> str:
    wanted = title.strip().casefold()
    holding = list_sessions(relay, scope="all", query=title.strip(), limit=MOST_CANDIDATES) if wanted else []
    exact = [session for session in holding if str(session.get("title")).casefold() == wanted]
    found = exact or holding
    if not found:
        raise CommandError(
            f"No session has the id or the title {title!r}.",
            f"To see what there is: {door.command_line('sessions', '--scope', 'all')}",
            NOT_FOUND,
        )
    if len(found) > 1:
        how = "is the title" if exact else "is part of the titles"
        raise CommandError(f"{title!r} {how} of several sessions.", _candidates(found), FAILED)
    return str(found[0]["id"])


def _candidates(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["Name one by its id:"]
    for session in found[:CANDIDATES_SHOWN]:
        group = (session.get("group") or {}).get("name") or "no group"
        at = local_time(str(session.get("lastActivityAt") or ""))
        lines.append(
            f"  {'  '.join([session['id'], at, visible(str(group)), visible(str(session['title']))])}"
        )
    if len(found) > CANDIDATES_SHOWN:
        lines.append(f"  and {len(found) - CANDIDATES_SHOWN} more")
    return "\n".join(lines)


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
        yield f"\n{visible(str(writing.get('startedAt')))}  still writing"
        yield readable(str(writing.get("text") or "")).rstrip("\n")
    for question in result.get("pendingQuestions", ()):
        yield f"\nwaiting for you: {readable(str(question.get('question')))}"


def _facts(session: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    group = session.get("group") or {}
    facts = {
        "provider": session.get("provider"),
        "model": session.get("model"),
        "folder": session.get("cwd"),
        "group": group.get("name") or group.get("id"),
        "last activity": session.get("lastActivityAt"),
    }
    return ((label, value) for label, value in facts.items() if value)


def _heading(message: Mapping[str, Any]) -> str:
    parts = [str(message.get("at") or ""), str(message.get("role") or "")]
    if message.get("via"):
        parts.append(f"via {message['via']}")
    if message.get("truncated"):
        parts.append("(cut)")
    return visible("  ".join(parts))
