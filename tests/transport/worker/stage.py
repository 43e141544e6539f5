"""A host on the test's own event loop, with the relay's end in the test's hands."""

import asyncio
import os
import select
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    TaskEnded,
    TaskOutput,
    TaskStarted,
    TurnEnded,
    TurnOutput,
)
from showcaller.transport.links.memory import MemoryLink
from showcaller.transport.links.relay import RelayLink
from showcaller.transport.links.workers import WorkerLink
from showcaller.transport.worker.host import Host
from showcaller.transport.worker.providers import Agents, Provider, Providers

LIMIT = 20.0


class Stage:
    """Plays the relay: hands over turns and waits, within a limit, for what comes back."""

    def __init__(
        self,
        providers: dict[str, Provider],
        grace: float = 5.0,
        output_interval: float = 0.01,
        agents: Agents | None = None,
        **more: Any,
    ) -> None:
        link = MemoryLink()
        self.relay = WorkerLink(link.relay_end)
        self.messages: list[FromWorkerMessage] = []
        self._arrived = asyncio.Event()
        self.relay.connect(self._deliver)
        self.host = Host(
            RelayLink(link.worker_end),
            Providers(providers, agents),
            grace=grace,
            output_interval=output_interval,
            **more,
        )
        self._turns = 0

    def _deliver(self, messages: Sequence[FromWorkerMessage]) -> None:
        self.messages.extend(messages)
        self._arrived.set()

    def start(self, text: str = "", provider: str = "command", **more: Any) -> str:
        """Hand over a turn and give its id."""
        self._turns += 1
        turn = f"msg_{self._turns:012}"
        told: dict[str, Any] = {
            "session": "ses_stage",
            "turn": turn,
            "provider": provider,
            "text": text,
            **more,
        }
        self.relay.send([RunTurn(**told)])
        return turn

    def stop(self, turn: str) -> None:
        self.relay.send([StopTurn(session="ses_stage", turn=turn)])

    async def end_of(self, turn: str) -> TurnEnded:
        return await self.first(lambda m: isinstance(m, TurnEnded) and m.turn == turn)  # type: ignore[no-any-return]

    async def run(self, text: str = "", provider: str = "command", **more: Any) -> TurnEnded:
        """Hand over a turn and give its end."""
        return await self.end_of(self.start(text, provider, **more))

    async def output_with(self, turn: str, text: str) -> str:
        """Wait until the turn's output so far holds the text; gives that output."""
        await self.first(lambda m: getattr(m, "turn", None) == turn and text in self.output_of(turn))
        return self.output_of(turn)

    async def task_of(self, turn: str) -> TaskStarted:
        """Wait until the turn has left something running."""
        return await self.first(lambda m: isinstance(m, TaskStarted) and m.turn == turn)  # type: ignore[no-any-return]

    async def end_of_task(self, task: str) -> TaskEnded:
        return await self.first(lambda m: isinstance(m, TaskEnded) and m.task == task)  # type: ignore[no-any-return]

    async def task_output_with(self, task: str, text: str) -> str:
        """Wait until what the task has written so far holds the text; gives that."""
        await self.first(lambda m: isinstance(m, TaskOutput) and text in self.output_of_task(task))
        return self.output_of_task(task)

    def output_of_task(self, task: str) -> str:
        return "".join(m.text for m in self.messages if isinstance(m, TaskOutput) and m.task == task)

    def output_of(self, turn: str) -> str:
        return "".join(m.text for m in self.messages if isinstance(m, TurnOutput) and m.turn == turn)

    def kinds(self, turn: str) -> list[str]:
        """What came for the turn, with runs of output written once."""
        kinds = [m.kind for m in self.messages if getattr(m, "turn", None) == turn]
        return [kind for index, kind in enumerate(kinds) if index == 0 or kinds[index - 1] != kind]

    async def first(self, wanted: Any, seconds: float = LIMIT) -> Any:
        """Wait for the first message, of all that have come or will, that is wanted."""
        async with asyncio.timeout(seconds):
            while True:
                for message in self.messages:
                    if wanted(message):
                        return message
                self._arrived.clear()
                await self._arrived.wait()


def wait_gone(pid: int, seconds: float = 10.0) -> bool:
    """Wait until a process has ended; gives False when it still runs after so many seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def processes_with(marker: str) -> list[int]:
    """Give the living processes that have the marker in their environment, this one excepted."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in environment:
                found.append(int(folder.name))
    return found
