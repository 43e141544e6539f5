"""One call of a function as the worker sees it, from its turn to its end."""

import asyncio
import json
from typing import Any

from showcaller.actors.contract.worker import RunTurn
from showcaller.transport.worker.environment import TOKEN_VARIABLE
from showcaller.transport.worker.function_child_messages import CallEnded, call_message
from showcaller.transport.worker.output import TextVeil, hidden_in
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
        self.secret = turn.environment.get(TOKEN_VARIABLE, "")
        self._output = TextVeil(sink.write, self.secret)
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

    def write(self, text: str) -> None:
        """Take a piece of what it writes; the token of its turn is hidden in it."""
        self._output.add(text)

    def ended(self, end: CallEnded) -> None:
        """Take what the process says of its end."""
        error = None if end.error is None else hidden_in(end.error, self.secret)
        reply = hidden_in(end.reply, self.secret)
        self.settle(Result(reply=reply, truncated=end.truncated, error_text=error))

    def settle(self, result: Result) -> None:
        """End it, unless it has ended."""
        if not self.answer.done():
            self._output.end()
            self.answer.set_result(result)
