"""Those who send prompts to a daemon that keeps dying: what they were told, and what must have come of it."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.crash.victims import Victims

WORK = ("true", "true", "sleep 0.1", "sleep 0.5", "sleep 1.5", "yes | head -c 200000", "sleep 0.3 & wait")
RETRIED = {"REMOTE_RELAY_STORAGE", "REMOTE_RELAY_UNAVAILABLE", "REMOTE_RELAY_CLOSING"}
ROUNDS = 3
ENDED = {"done", "failed", "stopped"}


class Sent(NamedTuple):
    """A prompt by its number, and what was told when it was accepted."""

    number: int
    session: str
    message: str


class Callers:
    """Send prompts, ask again with the same id what had no answer, and check what came of all of them."""

    def __init__(
        self, victims: Victims, place: Path, dice: random.Random, work: Sequence[str] = WORK
    ) -> None:
        self._victims = victims
        self._work = work
        self._ran = place / "ran"
        self._ran.touch()
        self._dice = dice
        self.told = 0
        self.ends: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._unanswered: dict[int, dict[str, Any]] = {}
        self.sent: list[Sent] = []
        self._broken: list[str] = []

    def prompt(self) -> None:
        """Send one more, to a new session or one that there is."""
        self.told += 1
        number = self.told
        text = f"echo {number} >> {self._ran}; {self._dice.choice(self._work)}; echo end {number}"
        call = {"action": "create_session", "relay": "this", "text": text, "wait_seconds": 0}
        if self.sent and self._dice.random() < 0.6:
            call |= {"action": "send", "session": self._dice.choice(self.sent).session}
        self._unanswered[number] = call
        self.ask_again()

    def ask_again(self) -> None:
        """Send what had no answer, oldest first, as far as somebody answers."""
        if not self._unanswered or not self._victims.runs:
            return
        try:
            with self._victims.client() as client:
                for number, call in list(self._unanswered.items()):
                    key = f"prompt-{number}"
                    answer = client.post("/api/call", json=call, headers={"idempotency-key": key}).json()
                    self._answered(number, answer)
        except httpx.TransportError:
            self._victims.await_end()

    def _answered(self, number: int, answer: dict[str, Any]) -> None:
        if answer["ok"]:
            self.sent.append(Sent(number, answer["session"], answer["message_id"]))
        elif answer["code"] in RETRIED:
            self.refused[answer["code"]] += 1
            return
        else:
            self._broken.append(f"prompt {number} was refused: {answer}")
        del self._unanswered[number]

    def see_to_the_end(self) -> list[str]:
        """Wait until every prompt has its end; give what is broken."""
        for _ in range(ROUNDS):
            self._victims.start_again()
            self.ask_again()
        broken = [f"prompt {number} was never answered" for number in self._unanswered]
        for sent in self.sent:
            broken += self.check_end(sent, self._end_of(sent))
        return broken + self._broken

    def _end_of(self, sent: Sent) -> dict[str, Any]:
        named = {"session": sent.session, "message_id": sent.message}
        call = {"action": "wait", "relay": "this", **named, "wait_seconds": 60}
        while True:
            self._victims.start_again()
            try:
                with self._victims.client() as client:
                    answer: dict[str, Any] = client.post("/api/call", json=call).json()
            except httpx.TransportError:
                self._victims.await_end()
            else:
                if answer.get("status") != "running" or answer.get("background") is None:
                    return answer  # else it has answered, and is asked about until its task is over

    def check_end(self, sent: Sent, end: dict[str, Any]) -> list[str]:
        """Give what is wrong with how a prompt ended."""
        status = end.get("status")
        why = f"{status} {end.get('stopReason', '')}".strip()
        self.ends[why] += 1
        if status not in ENDED:
            return [f"prompt {sent.number} has no end: {end}"]
        ran = self._runs()[sent.number]
        if status == "done":
            if ran != 1:
                return [f"prompt {sent.number} is done and ran {ran} times"]
            if not end["reply"]["text"].endswith(f"end {sent.number}\n"):
                return [f"prompt {sent.number} has another's reply: {end}"]
        elif end.get("stopReason") != "interrupted":
            return [f"prompt {sent.number} ended for no reason of these tests: {end}"]
        return []

    def _runs(self) -> Counter[int]:
        return Counter(int(line) for line in self._ran.read_text().split())

    def broken_by_commands(self) -> list[str]:
        """Give what ran twice, out of order, or though nobody sent it."""
        runs = self._runs()
        broken = [f"prompt {number} ran {count} times" for number, count in runs.items() if count > 1]
        sessions = {sent.number: sent.session for sent in self.sent}
        order = defaultdict[str, list[int]](list)
        for line in self._ran.read_text().split():
            if int(line) in sessions:
                order[sessions[int(line)]].append(int(line))
            else:
                broken.append(f"prompt {line} ran though it was never acknowledged")
        accepted = defaultdict[str, list[int]](list)
        for sent in self.sent:
            accepted[sent.session].append(sent.number)
        for session, numbers in order.items():
            wanted = [number for number in accepted[session] if number in set(numbers)]
            if numbers != wanted:
                broken.append(f"{session} ran {numbers}, accepted were {wanted}")
        return broken
