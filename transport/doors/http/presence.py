"""A call whose client has gone is not waited for any longer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from showcaller.actors.contract.errors import Code, Refusal

Result = TypeVar("Result")


async def while_there(answering: Coroutine[Any, Any, Result], receive: Receive) -> Result:
    """Give what a call comes to; once its client has gone it is cancelled, and a ``Refusal`` raised.

    The request's body has been read: all that can still come is that the client goes.
    """
    answer, gone = asyncio.ensure_future(answering), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        raise Refusal(Code.CANCELLED, "The client of this call has gone. What the call has stored stays.")
    finally:
        for task in (answer, gone):
            task.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
