"""What the commands that watch have in common: events as lines, and the relay asked on and on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import click

from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.exits import NOT_FOUND, UNREACHABLE, USAGE, CommandError, no_relay
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.session_names import read_session
from showcaller.transport.doors.cli.states import state_word
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible
from showcaller.transport.doors.http.whereabouts import running_relay

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])
LONG: Final = 366 * 86_400.0
UNTIL: Final = ("turn-end", "awaiting-input", "exited", "any")

_until_option = click.option(
    "--until",
    "until",
    multiple=True,
    type=click.Choice(UNTIL, case_sensitive=False),
    help="What to wait for; may be given several times.",
)
reconnect_option = click.option(
    "--reconnect",
    type=Duration(),
    default="60s",
    show_default=True,
    help="How long to wait for a relay that has gone.",
)
since_option = click.option(
    "--since", type=click.IntRange(min=0), metavar="CURSOR", help="Begin after this event."
)


def watch_options(command: AnyCommand) -> AnyCommand:
    """Let a command take what to wait for, from which event on, and how long to wait for a relay: the
    parameters ``until``, ``since`` and ``reconnect``.
    """
    return _until_option(since_option(reconnect_option(command)))


def refuse_without_relay(door: Door) -> None:
    """Say that nothing can happen where no relay runs; raises ``CommandError``."""
    if running_relay(door.home) is None:
        raise no_relay(
            f"No relay runs on {door.home}, so nothing happens there that could be waited for.",
            f"To start one: {door.command_line('serve')}",
            UNREACHABLE,
        )


def named(relay: LocalRelay, door: Door, names: Sequence[str]) -> dict[str, str]:
    """Give the title of each session that was named, by its id; raises ``CommandError``."""
    found: dict[str, str] = {}
    for name in names:
        session = read_session(relay, door, name, 1)["session"]
        found[session["id"]] = str(session.get("title") or "")
    return found


def answered(answer: Mapping[str, Any], cursor: int | None = None) -> Mapping[str, Any]:
    """Give an answer back unless it is a refusal.

    Raises ``CommandError``, which names the cursor to go on from where it can be gone on with.
    """
    if answer.get("ok"):
        return answer
    code = str(answer.get("code"))
    exits = {"REMOTE_RELAY_NOT_FOUND": NOT_FOUND, "REMOTE_RELAY_INVALID_INPUT": USAGE}
    exit_code = exits.get(code, UNREACHABLE)
    goes_on = exit_code != USAGE and cursor is not None
    way_out = f"To go on where this ended: --since {cursor}" if goes_on else None
    raise CommandError(str(answer.get("error")), way_out, exit_code, refusal=code)


def followed(
    relay: LocalRelay,
    sessions: Sequence[str] | None,
    until: Sequence[str],
    since: int | None,
    reconnect: float,
) -> Iterator[Mapping[str, Any]]:
    """Give answers of a monitor for ever: at once how it stands, and then each time something happens."""
    first = relay.monitor(sessions, until=until, timeout=0, since=since, reconnect=reconnect)
    answer = answered(first, since)
    yield answer
    while True:
        cursor: int = answer["next"]
        found = relay.monitor(sessions, until=until, timeout=LONG, since=cursor, reconnect=reconnect)
        answer = answered(found, cursor)
        yield answer


def event_line(event: Mapping[str, Any]) -> str:
    """Give the line that tells a person of an event."""
    said = visible(str(event.get("text") or "").strip().split("\n", 1)[0])
    reason, status = event.get("stopReason"), event.get("status")
    why = f" ({reason})" if reason not in (None, "end") else " (stopped)" if status == "stopped" else ""
    line = f"{local_time(str(event['at']))}  {event['cursor']:>6}  {visible(str(event['event']))}{why}"
    return f"{line}  {event['session']}  {visible(str(event['title']))}{': ' if said else ''}{said}"


def standing_line(session: Mapping[str, Any]) -> str:
    """Give the line that tells a person how a session stands."""
    return f"{session['session']}  {state_word(session)}  {visible(str(session['title']))}"


def gap_line(gap: int) -> str:
    """Give the line that tells a person that events are missing."""
    return f"Some events are not kept any more: the log begins with {gap}."
