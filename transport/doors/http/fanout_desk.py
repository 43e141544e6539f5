"""The fan-outs of this relay that were begun or gone on with over HTTP, by their groups."""

import asyncio
from secrets import token_hex
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.problems import named_problem
from showcaller.actors.relay.fanout_items import check_items
from showcaller.actors.relay.fanout_messages import FanoutRequest, StopFanout
from showcaller.actors.relay.listeners import tell_if_alive
from showcaller.actors.runtime import ActorRef
from showcaller.transport.doors.http.fanout_run import FanoutRun
from showcaller.transport.doors.local import LocalDoor

MOST_ENDED: Final = 16
"""Runs that have ended and can still be followed; each keeps its latest results."""


class FanoutDesk:
    """Begins fan-outs, goes on with them, and finds them for followers. Used on one asyncio loop."""

    def __init__(self, door: LocalDoor) -> None:
        self._door = door
        self._runs: dict[str, FanoutRun] = {}
        self._refs: dict[str, ActorRef[Any]] = {}
        self._beginning = asyncio.Lock()

    async def start(self, group: str, spec: FanoutSpec, items: list[JsonValue]) -> FanoutRun:
        """Begin a fan-out under an id that its caller has made up: once, however often it is asked.

        Raises ``Refusal``.
        """
        async with self._beginning:
            if await self._is_known(group):
                return await self._go_on(group, None, rerun=True)
            await asyncio.to_thread(check_items, spec, items)
            run = self._new_run(group)
            name = spec.name or f"fanout-{group[4:10]}"
            return await self._begin(FanoutRequest(group, name, spec, tuple(items), run), run)

    async def resume(self, name: str, jobs: int | None, *, rerun: bool) -> FanoutRun:
        """Go on with a fan-out, or join the one under way; raises ``Refusal``."""
        async with self._beginning:
            return await self._go_on(await asyncio.to_thread(self._door.find_fanout, name), jobs, rerun=rerun)

    async def _is_known(self, group: str) -> bool:
        if group in self._runs:
            return True
        try:
            return await asyncio.to_thread(self._door.find_fanout, group) == group
        except Refusal as refusal:
            if refusal.code is Code.UNKNOWN_GROUP:
                return False
            raise

    async def _go_on(self, group: str, jobs: int | None, *, rerun: bool) -> FanoutRun:
        under_way = self._runs.get(group)
        if under_way is not None and not under_way.is_over:
            return under_way
        run = self._new_run(group)
        return await self._begin(FanoutRequest(group, None, None, None, run, jobs, rerun), run)

    def _new_run(self, group: str) -> FanoutRun:
        return FanoutRun(group, token_hex(6), self._door, asyncio.get_running_loop())

    async def _begin(self, request: FanoutRequest, run: FanoutRun) -> FanoutRun:
        ref = await asyncio.to_thread(self._door.begin_fanout, request)
        await run.begun()
        self._forget_some()
        self._runs.pop(run.group, None)
        self._runs[run.group] = run
        self._refs[run.group] = ref
        return run

    def _forget_some(self) -> None:
        ended = [group for group, run in self._runs.items() if run.is_over]
        for group in ended[: max(0, len(ended) - MOST_ENDED + 1)]:
            del self._runs[group], self._refs[group]

    def find(self, group: str) -> FanoutRun:
        """Give the run of a group that is under way or has ended lately; raises ``Refusal``."""
        run = self._runs.get(group)
        if run is None:
            raise Refusal(
                Code.NOT_FOUND,
                f"The fan-out {quote_foreign(group, 40)} is not under way here: go on with it first.",
            )
        return run

    def stop(self, group: str) -> None:
        """Start no more items of a fan-out and end those that run; raises ``Refusal``."""
        tell_if_alive(self._refs[self.find(group).group], StopFanout())

    @property
    def running(self) -> list[FanoutRun]:
        """The runs under way."""
        return [run for run in self._runs.values() if not run.is_over]


def spec_of(value: JsonValue) -> FanoutSpec:
    """Read what a fan-out shall do; raises ``Refusal`` that says what to mend."""
    try:
        return FanoutSpec.model_validate(value)
    except ValidationError as error:
        problems = (
            str(detail.get("ctx", {}).get("error") or named_problem(detail))
            for detail in error.errors(include_url=False, include_input=False)[:5]
        )
        raise invalid(f"The spec is refused: {'; '.join(problems)}. Nothing was started.") from error
