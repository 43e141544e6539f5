"""Sending a prompt from the command line, and waiting for what comes back."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, Final, NamedTuple

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.provider_entries import EXTERNAL
from showcaller.transport.doors.cli.exits import (
    FAILED,
    GOOD,
    CommandError,
    Interrupted,
    checked,
    no_relay,
)
from showcaller.transport.doors.cli.left_workers import told_of, ways_out
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, without_envelope, write
from showcaller.transport.doors.cli.questions import pending_lines
from showcaller.transport.doors.cli.relay import Door, LocalRelay
from showcaller.transport.doors.cli.states import end_word
from showcaller.transport.doors.cli.visible import readable
from showcaller.transport.doors.holder import holder
from showcaller.transport.doors.http.whereabouts import running_relay

PIECE: Final = 300
"""Seconds that one call waits: a relay may let it wait less, and it is asked again."""
_PASSING: Final = frozenset({"status", "progress", "background", "note"})
"""What a result says of a prompt under way that need not hold when it has ended."""
_UNDER_WAY: Final = frozenset({"queued", "running", "duplicate"})


@dataclass(frozen=True)
class Patience:
    """How long to wait for a reply: None for as long as it takes, 0 for not at all."""

    seconds: float | None

    @classmethod
    def of(cls, *, no_wait: bool, wait: float | None) -> "Patience":
        """Give what the two options mean; ``--no-wait`` comes first."""
        return cls(0.0 if no_wait else wait)

    def piece(self, passed: float) -> int:
        """Give the whole seconds that the next call may wait after so many have passed."""
        return PIECE if self.seconds is None else math.ceil(min(PIECE, max(0.0, self.seconds - passed)))


def read_text(given: str) -> str:
    """Give a prompt's text, read from standard input for ``-``.

    Raises ``click.UsageError`` for what is none, wherever it was to come from.
    """
    if given != "-":
        if not given.strip():
            raise click.UsageError("TEXT is empty: there is no prompt to send.")
        return given
    if sys.stdin is None:
        raise click.UsageError("There is no standard input to read the prompt from: it is closed.")
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeError as error:
        raise click.UsageError("What came on standard input is no UTF-8 text.") from error
    if not text.strip():
        raise click.UsageError("Nothing came on standard input: there is no prompt to send.")
    return text


def refuse_without_relay(door: Door, patience: Patience) -> None:
    """Refuse a prompt that nobody waits for and nothing would run; raises ``CommandError``."""
    if patience.seconds == 0:
        require_relay(door, "this prompt", ". Or leave --no-wait out, and it runs within this command.")


def require_relay(door: Door, what: str, or_else: str = "") -> None:
    """Refuse something to be run where no relay runs, with the way out; raises ``CommandError``."""
    if running_relay(door.home) is None:
        raise no_relay(
            f"No relay runs on {door.home}, so nothing would run {what}.",
            f"Start one, in another terminal or as a service: {door.command_line('serve')}{or_else}",
        )


class Sent(NamedTuple):
    """What became of a prompt, and whether there was anything to wait for."""

    result: dict[str, Any]
    is_waited_for: bool = True


@dataclass(frozen=True)
class Prompting:
    """One prompt on its way; ``now`` gives seconds of a steady clock."""

    door: Door
    relay: LocalRelay
    patience: Patience
    now: Callable[[], float]

    def send(self, arguments: Mapping[str, Any], client_id: str | None) -> Sent:
        """Send it, wait as long as wanted, and give what became of it; raises ``CommandError``.

        Without a ``client_id`` one is made, so that it is sent once though the relay goes away meanwhile.
        """
        began = self.now()
        first = checked(
            self.relay.call({**arguments, "wait_seconds": 0}, id=client_id or f"cli-{token_urlsafe(12)}")
        )
        if self.patience.seconds == 0 or self._is_for_later(first):
            return Sent(dict(first), is_waited_for=False)
        note(f"Session {first['session']}")
        try:
            return Sent(self._ended(dict(first), began))
        except KeyboardInterrupt as interrupt:
            named = {name: first[name] for name in ("session", "message_id")}
            raise Interrupted(self._left(named), named) from interrupt

    def _left(self, named: Mapping[str, Any]) -> str:
        """Say what becomes of a prompt that is waited for no more; one that waits has no turn to stop."""
        if running_relay(self.door.home) is None:
            left = self.door.find_workers(self.door.home) if holder(self.door.home) is None else []
            if left:
                return f"Its relay has gone, and {told_of(left)}. {ways_out(self.door)}"
            return f"No relay runs on {self.door.home} that would go on with it: it ends here."
        show = f"To see it: {self.door.command_line('show', named['session'])}"
        try:
            with opened(self.door, read_only=True) as relay:
                now = checked(relay.call({"action": "wait", "relay": "this", **named, "wait_seconds": 0}))
        except (CommandError, Refusal):
            return f"It is stored, and the relay goes on with it. {show}"
        stop = self.door.command_line("stop-turn", named["session"])
        if now["status"] == "queued":
            return f"It waits in the queue still, and runs when its turn comes. {show}"
        if now["status"] not in _UNDER_WAY | {"waiting_for_answer"}:
            return f"It has ended meanwhile. {show}"
        if now.get("steered"):
            return (
                f"It has joined a turn that was under way, and goes on with that. To stop the whole: {stop}"
            )
        return f"It goes on. To stop it: {stop}"

    def _is_for_later(self, stored: Mapping[str, Any]) -> bool:
        """Whether a prompt is stored for a client of its own, which gets it when it calls the next time."""
        if stored["status"] != "queued" or not stored.get("note"):
            return False
        reading = {"action": "read_session", "relay": "this", "session": stored["session"], "last": 1}
        return bool(checked(self.relay.call(reading))["session"].get("provider") == EXTERNAL)

    def _ended(self, result: dict[str, Any], began: float) -> dict[str, Any]:
        told: str | None = None
        question = {
            "action": "wait",
            "relay": "this",
            "session": result["session"],
            "message_id": result["message_id"],
        }
        while result["status"] in _UNDER_WAY and not result.get("background"):
            piece = self.patience.piece(self.now() - began)
            if piece <= 0:
                break
            # With an id it is asked again when the relay has gone and come back.
            answer = checked(self.relay.call(question | {"wait_seconds": piece}, id=f"w-{token_urlsafe(12)}"))
            result = {name: value for name, value in result.items() if name not in _PASSING} | dict(answer)
            if (said := result.get("note")) and said != told and result["status"] == "queued":
                note(told := str(said))
        return result


def carry_out(
    door: Door,
    arguments: Callable[[LocalRelay], Mapping[str, Any]],
    patience: Patience,
    client_id: str | None,
    *,
    as_json: bool,
) -> int:
    """Send a prompt, wait for it, tell what became of it, and give the exit code; raises ``CommandError``.

    ``arguments`` gives those of the call, with a relay that may be asked for them.
    """
    from showcaller.actors.runtime.clock import SYSTEM_CLOCK

    with opened(door, read_only=False) as relay:
        prompting = Prompting(door, relay, patience, SYSTEM_CLOCK.monotonic)
        sent = prompting.send(arguments(relay), client_id)
    result = sent.result
    if not sent.is_waited_for or result["status"] not in _UNDER_WAY:
        return show_result(door, sent, as_json=as_json)
    if running_relay(door.home) is None:
        sent = Sent(_as_left(door, result))
    return show_result(door, sent, as_json=as_json)


def _as_left(door: Door, result: dict[str, Any]) -> dict[str, Any]:
    """Give what became of a prompt whose relay has ended with this command: the store has it."""
    question = {"session": result["session"], "message_id": result["message_id"], "wait_seconds": 0}
    with opened(door, read_only=True) as relay:
        left = dict(checked(relay.call({"action": "wait", "relay": "this", **question})))
    more = f"To have such things go on: {door.command_line('serve')}"
    if background := result.get("background"):
        left["note"] = f"{background['running']} in the background ended with this command. {more}"
    elif end_word(left) == "interrupted":
        left["note"] = f"No relay runs on {door.home}, so it ended with this command. {more}"
    return {name: value for name, value in result.items() if name not in _PASSING} | left


def show_result(door: Door, sent: Sent, *, as_json: bool) -> int:
    """Write what became of a prompt, and give the exit code: 0 also for one that nobody waits for."""
    result = sent.result
    if as_json:
        write(json_line(without_envelope(result)))
    else:
        _tell(door, sent)
    if not sent.is_waited_for or result["status"] == "done" or result.get("background"):
        return GOOD
    return FAILED


def _tell(door: Door, sent: Sent) -> None:
    result = sent.result
    session = str(result["session"])
    reply = result.get("reply") or {}
    if reply.get("text"):
        write(readable(str(reply["text"])).rstrip("\n"))
    if reply.get("truncated"):
        note(f"This is not all of it: {door.command_line('export', session)}")
    status = str(result["status"])
    if background := result.get("background"):
        note(f"{background['running']} in the background: {door.command_line('show', session)}")
    elif status in _UNDER_WAY:
        note(f"{session} is {status}. To see more: {door.command_line('show', session)}")
    elif status == "waiting_for_answer":
        note(f"{session} waits for you:")
        for line in pending_lines(door, result):
            note(line)
        if running_relay(door.home) is not None:
            note(f"It goes on when you have answered. To see more: {door.command_line('show', session)}")
    elif status != "done":
        reason = f": {readable(str(result['errorText']))}" if result.get("errorText") else ""
        note(f"{session} {end_word(result)}{reason}")
    if result.get("note") and (not sent.is_waited_for or status not in {"queued", "running"}):
        note(str(result["note"]))  # unless it was told already, while the prompt was waited for
