"""The calls of external conversations under way, and which messages went out with their answers.

A conversation's turn runs while one of its calls is under way. What waits for it goes out with the answer to
a call, and its next call confirms that it has come: only then it is stored as taken. So nothing is lost with
an answer, and what a relay that dies has given once comes again, under the same id. Nothing here is stored.
"""

import threading
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Final

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.limits import GIVEN_CHARACTERS, GIVEN_MESSAGES
from showcaller.actors.runtime import Future

Row = dict[str, Any]

STOPPED: Final = (
    "The turn in which you made this call was stopped. What it has stored stays; nothing more was done."
)


def fitting(rows: list[Row]) -> int:
    """Say how many of these messages, from the first, one answer carries: whole, and at least one. Pure."""
    characters = 0
    for number, row in enumerate(rows):
        characters += len(row["text"])
        if number == GIVEN_MESSAGES or (number and characters > GIVEN_CHARACTERS):
            return number
    return len(rows)


class ExternalCall:
    """A call of an external conversation under way. Thread-safe, as the books are that it stands in.

    ``confirms``: the messages that went out with answers before it began. A repeat under the same client id
    confirms nothing that went out under that id: that answer may be lost, and it gets the same once more.
    """

    def __init__(self, books: "ExternalCalls", session: str, name: str, confirms: tuple[str, ...]) -> None:
        self.session = session
        self.name = name
        self.confirms = confirms
        self.offered: frozenset[str] = frozenset()
        self.taken: set[str] = set()  # since it began: what it has read of the store may be older
        self._books = books
        self._result: Future[Any] | None = None
        self._kill: Callable[[], None] | None = None
        self._stopped = Refusal(Code.CANCELLED, STOPPED).to_result()

    def known(self) -> frozenset[str]:
        """Give the messages that went out with other calls' answers, or are about to."""
        return self._books.elsewhere(self)

    def offer(self, rows: Iterable[Row]) -> tuple[list[Row], int]:
        """Take into this call's answer what waits and is in no other's; gives that, and how many are left."""
        return self._books.offer(self, rows)

    def confirmed(self) -> None:
        """It is stored that the conversation has what this call confirms."""
        self._books.forget(self.session, self.confirms)

    def follow(self, result: "Future[Any]", kill: Callable[[], None]) -> None:
        """Take the call as over when it has its ``result``; ``kill`` ends what carries it out."""
        self._result, self._kill = result, kill
        result.add_done_callback(self._over)

    def cut(self) -> bool:
        """Answer the call at once because its turn is stopped; tell whether it had no answer yet."""
        if self._result is None or self._kill is None or not self._result.try_set(self._stopped):
            return False
        self._kill()
        return True

    def lost(self) -> None:
        """Nobody has had the answer, so nothing has gone out with it."""
        self._books.take_back(self)

    def _over(self, result: "Future[Any]") -> None:
        answered = result.error is None and result.get() is not self._stopped
        self._books.end(self, answered=answered)


class ExternalCalls:
    """The books of one relay, for as long as it runs. Thread-safe."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._numbers = count(1)
        self._under_way: dict[str, list[ExternalCall]] = {}
        self._given: dict[str, dict[str, str]] = {}  # by session and message, the name of the call

    def begin(self, session: str, client_id: object = None) -> ExternalCall:
        """Note that a call of this conversation has begun."""
        name = f"id {client_id}" if isinstance(client_id, str) else f"call {next(self._numbers)}"
        with self._gate:
            confirms = tuple(m for m, other in self._given.get(session, {}).items() if other != name)
            call = ExternalCall(self, session, name, confirms)
            self._under_way.setdefault(session, []).append(call)
        return call

    def runs(self, session: str) -> bool:
        """Tell whether the conversation's turn runs."""
        return session in self._under_way

    def running(self) -> frozenset[str]:
        """Give the conversations whose turns run."""
        with self._gate:
            return frozenset(self._under_way)

    def given(self, session: str) -> frozenset[str]:
        """Give the messages that went out with answers, and are stored as taken with the next call."""
        with self._gate:
            return frozenset(self._given.get(session, ()))

    def cut(self, session: str) -> bool:
        """Answer all calls of the conversation, because its turn is stopped; tell whether there was one."""
        with self._gate:
            calls = list(self._under_way.get(session, ()))
        return sum(call.cut() for call in calls) > 0

    def elsewhere(self, call: ExternalCall) -> frozenset[str]:
        """Give the messages that went out with answers to calls of other names, or are about to."""
        with self._gate:
            return self._elsewhere(call)

    def offer(self, call: ExternalCall, rows: Iterable[Row]) -> tuple[list[Row], int]:
        """Take into a call's answer what no other answer has; gives that, and how many are left for later."""
        with self._gate:
            elsewhere = self._elsewhere(call)
            free = [row for row in rows if row["id"] not in elsewhere]
            shown = free[: fitting(free)]
            call.offered = frozenset(row["id"] for row in shown)
        return shown, len(free) - len(shown)

    def forget(self, session: str, messages: tuple[str, ...]) -> None:
        """These messages wait no more."""
        with self._gate:
            for call in self._under_way.get(session, ()):
                call.taken.update(messages)
            given = self._given.get(session, {})
            for message in messages:
                given.pop(message, None)
            if not given:
                self._given.pop(session, None)

    def end(self, call: ExternalCall, *, answered: bool) -> None:
        """A call is over."""
        with self._gate:
            under_way = self._under_way.get(call.session, [])
            if call not in under_way:
                return
            under_way.remove(call)
            if not under_way:
                del self._under_way[call.session]
            if answered and call.offered:
                self._given.setdefault(call.session, {}).update(dict.fromkeys(call.offered, call.name))

    def take_back(self, call: ExternalCall) -> None:
        """What was in a call's answer has not gone out with it."""
        with self._gate:
            given = self._given.get(call.session, {})
            for message in [each for each in call.offered if given.get(each) == call.name]:
                del given[message]
            call.offered = frozenset()

    def _elsewhere(self, call: ExternalCall) -> frozenset[str]:
        given = self._given.get(call.session, {})
        found = call.taken | {message for message, name in given.items() if name != call.name}
        for other in self._under_way.get(call.session, ()):
            if other.name != call.name:
                found |= other.offered
        return frozenset(found)
