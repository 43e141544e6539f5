"""A fan-out of a running relay as a command sees it; it is followed on when the relay is started anew."""

import threading
from collections.abc import Iterator
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal, refusal_in
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.transport.doors.http.channel import Channel, RelayGone
from showcaller.transport.doors.http.returning import Return


class FollowedFanout:
    """Gives one result for each item, whichever relay of the data folder tells of it.

    ``started`` and ``running`` may be read, and ``stop`` called, from any thread.
    """

    def __init__(self, channel: Channel, begun: dict[str, Any], *, rerun: bool) -> None:
        """``begun`` is what the relay answered when it began, or went on with, the fan-out."""
        self._channel = channel
        self._rerun = rerun
        self.group = str(begun["group"])
        self.name = str(begun["name"])
        self.total = int(begun["total"])
        self.spec = FanoutSpec.model_validate(begun["spec"])
        self.started = 0
        self.running = 0
        self._run = str(begun["run"])
        self._place = 0
        self._told: set[int] = set()
        self._over = False
        self._gate = threading.Lock()  # guards the two below
        self._stopping = False
        self._returning: Return | None = None

    def results(self) -> Iterator[ItemResult]:
        """Give one result per item as it ends; blocks between them. Raises what ended it early."""
        while not self._over:
            # Made before the connection is: a relay that is started after this one's death is heard of.
            with Return(self._channel.home) as returning:
                self._wait_with(returning)
                try:
                    yield from self._follow()
                except RelayGone as gone:
                    self._go_on(gone, returning)
                finally:
                    self._wait_with(None)

    def _follow(self) -> Iterator[ItemResult]:
        path = f"/api/fanouts/{self.group}/results?run={self._run}&after={self._place}"
        with self._channel.lines(path) as lines:
            for line in lines:
                if "result" in line:
                    self._place = line["after"]
                    if line["number"] not in self._told:
                        self._told.add(line["number"])
                        yield _result(line)
                elif "end" in line:
                    self._end(line["end"]["error"])
                    return
                else:
                    self.started, self.running = line["started"], line["running"]
        raise RelayGone(f"The relay told of {self.group} no more, though it is not over.")

    def _end(self, error: dict[str, Any] | None) -> None:
        refusal = None if error is None else refusal_in(error)
        if refusal is not None and refusal.code is Code.UNAVAILABLE:  # what runs goes on without that relay
            raise RelayGone(refusal.error, ends=True)
        self._over = True
        if refusal is not None:
            raise refusal

    def _go_on(self, gone: RelayGone, returning: Return) -> None:
        """Follow the relay that comes after; raises ``Refusal`` when none does, or none is wanted."""
        while True:
            with self._gate:
                stopping = self._stopping
            if stopping or not self._channel.await_return(returning, gone):
                raise Refusal(Code.UNAVAILABLE, str(gone)) from gone
            try:
                self._join()
            except RelayGone as again:
                gone = again
            else:
                return

    def _join(self) -> None:
        body = {"group": self.group, "rerun": self._rerun}
        begun = self._channel.asked("POST", "/api/fanouts/resume", body)
        if begun["run"] != self._run:
            self._run, self._place = begun["run"], 0

    def _wait_with(self, returning: Return | None) -> None:
        with self._gate:
            self._returning = returning

    def stop(self) -> None:
        """Start no more items and end those that run; a second call is harmless."""
        with self._gate:
            self._stopping = True
            if self._returning is not None:
                self._returning.give_up()
        try:
            self._channel.asked("POST", f"/api/fanouts/{self.group}/stop")
        except (RelayGone, Refusal):
            return  # it has ended; who takes the results is told


def _result(line: dict[str, Any]) -> ItemResult:
    fields = {name: value for name, value in line["result"].items() if name != "truncated"}
    return ItemResult(**fields | {"number": line["number"]})
