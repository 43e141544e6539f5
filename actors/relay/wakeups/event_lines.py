"""What a wake message says, and that of a schedule: its first line, and a line for each event. Pure.

Everything that somebody else wrote is quoted, so that no title, reply or name can make a line of its own.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import WAKE_CHARACTERS, WAKE_EVENTS, WAKEUP_DIGEST_MINUTES
from showcaller.actors.contract.summaries import counted
from showcaller.actors.contract.times import time_text
from showcaller.actors.relay.wakeups.release import Key, Terms, Wakeup

FIRST_LINE: Final = (
    "[relay event · automated message from Showcaller, not from the user; it approves nothing]"
)
MAY_REPEAT: Final = "may repeat: the turn that was woken by these events before was interrupted"
_EVENT: Final = "[relay event] "
_TITLE: Final = 80
_AT_WORK: Final = 10
_MORE: Final = re.compile(r"and ([\d,]+) more: read_session")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}", re.ASCII)


class AtWork(NamedTuple):
    """A session that works, since then (milliseconds)."""

    session: str
    title: str
    since: int


class Told(NamedTuple):
    """An event with all that its line tells.

    ``relay`` is the name of a paired relay, '' for this one. ``outcome`` refines it: how a turn ended, or
    that a session was deleted. ``about`` is the id of its task or question. ``text`` is the start of a
    reply, an error, a question, an answer or a description. ``watched`` is the number of watched sessions,
    None for all of a relay; ``via`` the relay on which a question was answered; ``held`` how many events
    come later that were kept for a link.
    """

    kind: str
    session: str = ""
    title: str = ""
    relay: str = ""
    outcome: str = ""
    about: str = ""
    text: str = ""
    subscription: str = ""
    minutes: int | None = None
    watched: int | None = None
    at_work: tuple[AtWork, ...] = ()
    choice: str = ""
    via: str = ""
    held: int = 0


def event_line(told: Told) -> str:
    """Give the line of an event."""
    place = "" if not told.relay else f"{_plain(told.relay)} · "
    if told.session:
        place += f"session {quote_foreign(told.title, _TITLE)} ({_plain(told.session)}): "
    return f"{_EVENT}{place}{_what(told)}"


def _what(told: Told) -> str:
    of_subscription = f" (subscription {_plain(told.subscription)})" if told.subscription else ""
    match told.kind:
        case "all_idle":
            return f"all_idle: no turn or task is running in {_watched(told.watched)}{of_subscription}"
        case "heartbeat":
            return f"heartbeat: {_working(told.at_work)}{of_subscription}"
        case "stalled":
            thing = f"task {_plain(told.about)}" if told.about else "its turn"
            return f"stalled: {thing} gave no sign for {told.minutes or 0} min{_quoted(told.text)}"
        case "archived":
            return "archived (deleted)" if told.outcome == "deleted" else "archived"
        case "link_restored" if told.held:
            return f"link_restored: {counted(told.held, 'event')} held by digests or quiet hours until later"
        case "question_answered":
            return _answered(told)
        case _:
            details = ", ".join(_plain(each) for each in (told.outcome, told.about) if each)
            return f"{_plain(told.kind)}{f' ({details})' if details else ''}{_quoted(told.text)}"


def _watched(number: int | None) -> str:
    if number is None:
        return "any watched session"
    return "the watched session" if number == 1 else f"the {number:,} watched sessions"


def _working(sessions: Sequence[AtWork]) -> str:
    shown = [
        f"{quote_foreign(each.title, _TITLE)} ({_plain(each.session)}) since {time_text(each.since)}"
        for each in sessions[:_AT_WORK]
    ]
    if len(sessions) > _AT_WORK:
        shown.append(f"and {len(sessions) - _AT_WORK:,} more")
    work = "works" if len(sessions) == 1 else "work"
    return f"{counted(len(sessions), 'session')} {work}: {'; '.join(shown)}"


def _answered(told: Told) -> str:
    said = "dismissed" if told.outcome == "dismissed" else "answered"
    choice = f" choice {quote_foreign(told.choice)}" if told.choice else ""
    via = f" via {_plain(told.via)}" if told.via else ""
    return f"question_answered ({_plain(told.about)}): {said}{choice}{_quoted(told.text)}{via}"


def _quoted(text: str) -> str:
    return f" {quote_foreign(text.strip())}" if text.strip() else ""


def _plain(name: str) -> str:
    """Give an id, or a name of one word, as it is; anything else quoted."""
    return name if _PLAIN.fullmatch(name) else quote_foreign(name, 64)


def schedule_message(schedule: str, title: str | None, fired_at: int, text: str) -> str:
    """Write the message of a firing: a line of ours, then the text as it was given."""
    named = "" if title is None else f" {quote_foreign(title, _TITLE)}"
    return (
        f"[relay schedule {_plain(schedule)}{named} · fired {time_text(fired_at)} · "
        f"automated message from Showcaller, not from the user; it approves nothing]\n{text}"
    )


def quiet_line(windows: Sequence[QuietHours], count: int) -> str:
    """Say that events come now that quiet hours, of one subscription or several, have ended."""
    shown = ", ".join(dict.fromkeys(f"{each.start}–{each.end} {each.tz}" for each in windows))
    return (
        f"Held during quiet hours ({shown}): {counted(count, 'event')}, "
        "delivered now that the window has ended; questions and errors came at once."
    )


def digest_line(every: Mapping[str, int], count: int, *, capped: bool) -> str:
    """Say that this is a digest: of subscriptions with the minutes of each, of the hourly cap, or both."""
    shown = [f"{_plain(name)} every {minutes} min" for name, minutes in every.items()]
    why: list[str] = []
    if shown:
        why.append(f"{'subscription' if len(shown) == 1 else 'subscriptions'} {', '.join(shown)}")
    if capped:
        why.append(f"the hourly cap on wake-ups, then every {WAKEUP_DIGEST_MINUTES} min")
    return f"Digest of {counted(count, 'event')} ({' and '.join(why)}; questions and errors come at once):"


def wake_message(
    wakeup: Wakeup,
    told: Mapping[Key, Told],
    terms: Mapping[str, Terms] = MappingProxyType({}),
    *,
    before: str | None = None,
    again: bool = False,
) -> str:
    """Write the message of a wake-up.

    Args:
        wakeup: what leaves.
        told: each of its events.
        terms: those of the watcher's subscriptions, as they were when it left.
        before: the text of the message that is still unread and that this one extends.
        again: the turn that a message with these events began was interrupted.

    """
    lines = [*_lines(wakeup.urgent, told), *_notes(wakeup, terms), *_lines(wakeup.rest, told)]
    begun = [FIRST_LINE, MAY_REPEAT] if again else [FIRST_LINE]
    return _fitted(begun if before is None else before.split("\n"), lines)


def _lines(events: Sequence[Key], told: Mapping[Key, Told]) -> list[str]:
    return [event_line(told[event]) for event in events]


def _notes(wakeup: Wakeup, terms: Mapping[str, Terms]) -> list[str]:
    notes: list[str] = []
    windows = [window for name in wakeup.quiet.values() if (window := terms[name].quiet) is not None]
    if windows:
        notes.append(quiet_line(windows, len(wakeup.quiet)))
    gathered = len(wakeup.rest) - len(wakeup.quiet)
    # A digest of one reads as that event.
    if gathered > 1 and (wakeup.digests or wakeup.capped):
        every = {name: terms[name].digest_minutes or 0 for name in wakeup.digests}
        notes.append(digest_line(every, gathered, capped=wakeup.capped))
    return notes


def _fitted(begun: list[str], lines: list[str]) -> str:
    """Join lines within the limits of a message; the last line says how many events are not shown."""
    left_out = 0
    if found := _MORE.fullmatch(begun[-1]):
        left_out = int(found[1].replace(",", ""))
        begun = begun[:-1]
    shown = list(begun)
    events = sum(map(_is_event, begun))
    size = sum(len(line) + 1 for line in begun)
    room = WAKE_CHARACTERS - len(_more(10**9))
    for line in lines:
        is_event = _is_event(line)
        fits = size + len(line) + 1 <= room and not (is_event and events >= WAKE_EVENTS)
        if left_out or not fits:
            left_out += is_event
            continue
        shown.append(line)
        size += len(line) + 1
        events += is_event
    return "\n".join([*shown, _more(left_out)] if left_out else shown)


def _is_event(line: str) -> bool:
    return line.startswith(_EVENT)


def _more(count: int) -> str:
    return f"and {count:,} more: read_session"
