"""One call of a function as the worker sees it, from its turn to its end."""

import asyncio
import json
from typing import Any

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.function_child_messages import CallEnded, call_message
from showcaller.transport.worker.providers import Result, Sink


class FunctionCall:
    """Waits for a process, runs in it, and ends once; on the worker's event loop.

    Raises ValueError when its item cannot be written as JSON.
    """

    def __init__(self, turn: RunTurn, sink: Sink, loop: asyncio.AbstractEventLoop) -> None:
        self.answer: asyncio.Future[Result] = loop.create_future()
        self.since = loop.time()
        self.is_halted = False
        self.was_returned = False
        self.write = sink.write
        self.grace = sink.grace
        self._target = turn.provider.partition(":")[2]
        self._environment = turn.environment
        self._text = "" if turn.has_item else turn.text
        try:
            self._item = json.dumps(turn.item) if turn.has_item else None
        except RecursionError as error:
            raise ValueError("its item is nested too deeply") from error

    def message(self, number: int) -> dict[str, Any]:
        """Give what starts it under this number."""
        return call_message(number, self._target, self._text, self._item, self._environment)

    def ended(self, end: CallEnded) -> None:
        """Take what the process says of its end."""
        self.settle(Result(reply=end.reply, truncated=end.truncated, error_text=end.error))

    def settle(self, result: Result) -> None:
        """End it, unless it has ended."""
        if not self.answer.done():
            self.answer.set_result(result)
