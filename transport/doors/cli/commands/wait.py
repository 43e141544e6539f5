"""``showcaller wait``: wait until something happens in sessions, over restarts of the relay."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from showcaller.actors.runtime.clock import SYSTEM_CLOCK
from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.exits import GOOD, TIMED_OUT, USAGE, CommandError
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.watched import (
    answered,
    event_line,
    named,
    refuse_without_relay,
    standing_line,
    watch_options,
)

_USUAL: Final = ("turn-end",)


def _refuse_policy(ctx: click.Context, parameter: click.Parameter, policy: str | None) -> None:
    del ctx, parameter
    if policy is not None:
        raise CommandError(
            f"This version has no policies, so there is no {policy!r} to wait for.",
            "Name the sessions instead: showcaller wait SESSION...",
            USAGE,
        )


@click.command(
    "wait",
    cls=Command,
    help="""Wait until something happens in sessions.

SESSION is an id, the first six or more characters of one, or a title that
only one session has. One that is idle already has nothing to wait for: its
turn has ended. With --since that counts only if it happened after the event.

\b
Examples:
  showcaller wait 3f9c2a1e
  showcaller wait ses_3f9c2a1e07bd 'Nightly deploy' --all --timeout 30m --json

\b
Exit codes:
  0    it happened
  1    the time was up first
  2    the command line itself is wrong
  3    no such session
  4    the relay does not answer, and none came back within --reconnect
  130  interrupted by Ctrl-C or a signal
""",
)
@click.argument("sessions", nargs=-1, metavar="SESSION...")
@watch_options
@click.option("--any/--all", "first", default=True, help="In one of them (the default), or in each.")
@click.option("--timeout", type=Duration(), default="30m", show_default=True, help="How long to wait.")
@click.option("--policy", metavar="ID", hidden=True, callback=_refuse_policy, expose_value=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@home_option
@click.pass_obj
def command(
    door: Door,
    sessions: tuple[str, ...],
    until: tuple[str, ...],
    first: bool,
    timeout: float,
    reconnect: float,
    since: int | None,
    as_json: bool,
) -> int:
    """Wait and give the exit code."""
    if not sessions:
        raise click.UsageError("Missing argument 'SESSION...'.")
    refuse_without_relay(door)
    with opened(door, read_only=True) as relay:
        titles = named(relay, door, sessions)
        wait = Wait(relay, list(titles), until or _USUAL, reconnect, since)
        wait.until_matched(SYSTEM_CLOCK.monotonic() + timeout, each=not first)
    if as_json:
        write(json_line(wait.result()))
    else:
        for line in wait.lines():
            write(line)
    if not wait.matched:
        note(f"It has not happened in time. To go on: --since {wait.cursor}")
    return GOOD if wait.matched else TIMED_OUT


class Wait:
    """What has happened so far in the sessions that are waited for."""

    def __init__(
        self,
        relay: LocalRelay,
        sessions: Sequence[str],
        until: Sequence[str],
        reconnect: float,
        since: int | None,
    ) -> None:
        self.cursor = since
        self.matched = False
        self._relay = relay
        self._left = list(sessions)
        self._until = until
        self._reconnect = reconnect
        self._fired: list[Mapping[str, Any]] = []
        self._idle: list[Mapping[str, Any]] = []
        self._waiting: list[Mapping[str, Any]] = []
        self._pending: Sequence[Mapping[str, Any]] = ()
        self._gap: int | None = None

    def until_matched(self, deadline: float, *, each: bool) -> None:
        """Wait until it has happened in one session, or in ``each``, or the clock shows the deadline."""
        self._ask(0)  # which gives the place from which on nothing is missed, whatever dies
        if not self._is_enough(each=each):
            note(f"Waiting for {', '.join(self._left)}, from event {self.cursor} on.")
        while not self._is_enough(each=each):
            left = deadline - SYSTEM_CLOCK.monotonic()
            if left <= 0:
                return
            self._ask(left)
        self.matched = True

    def _is_enough(self, *, each: bool) -> bool:
        return not self._left if each else bool(self._fired or self._idle or self._waiting)

    def _ask(self, seconds: float) -> None:
        answer = answered(
            self._relay.monitor(
                self._left,
                until=self._until,
                timeout=seconds,
                since=self.cursor,
                reconnect=self._reconnect,
            ),
            self.cursor,
        )
        self.cursor = answer["next"]
        self._fired += answer["fired"]
        self._idle += answer.get("alreadyIdle", ())
        self._waiting += answer.get("alreadyWaiting", ())
        self._pending = answer["pending"]
        self._gap = answer["gap"] if self._gap is None else self._gap
        done = {event["session"] for event in answer["fired"]}
        already = (*answer.get("alreadyIdle", ()), *answer.get("alreadyWaiting", ()))
        done |= {session["session"] for session in already}
        self._left = [session for session in self._left if session not in done]

    def result(self) -> dict[str, Any]:
        """Give what ``--json`` writes."""
        return {
            "matched": self.matched,
            "timedOut": not self.matched,
            "fired": self._fired,
            "alreadyIdle": self._idle,
            "alreadyWaiting": self._waiting,
            "pending": self._pending,
            "next": self.cursor,
            "gap": self._gap,
        }

    def lines(self) -> list[str]:
        """Give what a person reads."""
        return [*map(event_line, self._fired), *map(standing_line, (*self._idle, *self._waiting))]
