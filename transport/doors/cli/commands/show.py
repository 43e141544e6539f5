"""``showcaller show``: one conversation, newest message last."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from showcaller.transport.doors.cli.commands.sessions import list_sessions
from showcaller.transport.doors.cli.exits import FAILED, GOOD, NOT_FOUND, CommandError, checked
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, write
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.states import state_word
from showcaller.transport.doors.cli.visible import readable, visible

MOST_CHARACTERS = 50_000
MOST_CANDIDATES = 100
_ID_FORM = re.compile(r"(ses_)?[0-9a-z]{6,12}")
_ENVELOPE = frozenset({"ok", "relay", "summary"})


@click.command(
    "show",
    help="""Show one session, named by its id, six or more characters of it, or its title.

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
@click.pass_obj
def command(door: Door, session: str, last: int, as_json: bool) -> int:
    """Show a session and give the exit code."""
    if door.is_empty:
        raise CommandError(f"No session {session!r}: {door.home} holds none.", code=NOT_FOUND)
    with opened(door, read_only=True) as relay:
        result = read_session(relay, session, last)
        reason = None if as_json else why_it_failed(relay, result)
    if as_json:
        write(json_line({name: value for name, value in result.items() if name not in _ENVELOPE}))
        return GOOD
    for line in conversation(result):
        write(line)
    if reason:
        write(f"\nfailed: {readable(reason)}")
    return GOOD


def read_session(relay: LocalRelay, name: str, last: int) -> Mapping[str, Any]:
    """Read the session of that id, beginning of an id, or title.

    Raises ``CommandError`` when there is none, or several.
    """
    if _ID_FORM.fullmatch(name.strip()):
        result = relay.call(_reading(name.strip(), last))
        if result.get("code") != "REMOTE_RELAY_NOT_FOUND":
            return checked(result)
    return checked(relay.call(_reading(_by_title(relay, name), last)))


def why_it_failed(relay: LocalRelay, result: Mapping[str, Any]) -> str | None:
    """Give the reason for which the last turn of a session that was read failed, None when it did not."""
    session = result["session"]
    asked = [message["id"] for message in result.get("messages", ()) if message.get("role") == "user"]
    if session.get("lastTurn") not in {"failed", "interrupted"} or not asked:
        return None
    ended = relay.call(
        {
            "action": "wait",
            "relay": "this",
            "session": session["id"],
            "message_id": asked[-1],
            "wait_seconds": 0,
        }
    )
    return ended.get("errorText")


def _reading(session: str, last: int) -> dict[str, Any]:
    return {
        "action": "read_session",
        "relay": "this",
        "session": session,
        "last": last,
        "max_chars": MOST_CHARACTERS,
    }


def _by_title(relay: LocalRelay, title: str) -> str:
    wanted = title.strip().casefold()
    holding = list_sessions(relay, scope="all", query=title.strip(), limit=MOST_CANDIDATES) if wanted else []
    exact = [session for session in holding if str(session.get("title")).casefold() == wanted]
    found = exact or holding
    if not found:
        raise CommandError(
            f"No session has the id or the title {title!r}.",
            "To see what there is: showcaller sessions --scope all",
            NOT_FOUND,
        )
    if len(found) > 1:
        some = "\n".join(f"  {session['id']}  {visible(str(session.get('title')))}" for session in found[:10])
        raise CommandError(
            f"{title!r} is the title of several sessions.", f"Name one by its id:\n{some}", FAILED
        )
    return str(found[0]["id"])


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
