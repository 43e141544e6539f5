"""A folder of functions, and a stage whose turns call them in children of this process."""

import asyncio
import os
from pathlib import Path
from textwrap import dedent
from typing import Any

from showcaller.actors.contract.worker import TurnEnded
from showcaller.transport.worker.callable_in_children import ChildCallableProvider
from tests.transport.worker.stage import LIMIT, Stage


class FunctionsDesk:
    """Turns by the names of functions in ``folder``'s module ``jobs``."""

    def __init__(self, folder: Path, marker: str, grace: float = 5.0, **more: Any) -> None:
        name, _, value = marker.partition("=")
        environment = {key: each for key, each in os.environ.items() if key != "PYTHONPATH"}
        environment |= more.pop("environment", {})
        self.folder = folder
        self.provider = ChildCallableProvider({**environment, name: value}, **more)
        self.stage = Stage({"callable": self.provider}, grace)

    def write(self, source: str, module: str = "jobs", folder: Path | None = None) -> None:
        """Write the functions."""
        ((folder or self.folder) / f"{module}.py").write_text(dedent(source))

    def start(self, function: str, item: object = None, **more: Any) -> str:
        """Hand over a turn and give its id."""
        target = function if ":" in function else f"jobs:{function}"
        known = {"item": item, "has_item": True, "cwd": str(self.folder), **more}
        return self.stage.start("", f"callable:{target}", **known)

    async def run(self, function: str, item: object = None, **more: Any) -> TurnEnded:
        """Hand over a turn and give its end."""
        return await self.stage.end_of(self.start(function, item, **more))

    async def run_all(self, function: str, items: list[Any], **more: Any) -> list[TurnEnded]:
        """Hand over turns at once and give their ends."""
        turns = [self.start(function, item, **more) for item in items]
        return [await self.stage.end_of(turn) for turn in turns]

    async def close(self) -> None:
        """End it within a limit."""
        async with asyncio.timeout(LIMIT):
            await self.stage.host.close()
        self.stage.relay.close()
