"""What waits for an external conversation: it comes with answers to its calls, or ends a bare ``wait``."""

import logging
from typing import Any, Final

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.summaries import counted, summary
from showcaller.actors.relay import views
from showcaller.actors.relay.calls.context import CallContext, Row
from showcaller.actors.relay.messages import AwaitMessage, IfAwake, Look, TakeMessages, ToSession
from showcaller.actors.runtime import Timeout

WAITED: Final = (
    "You named no session, so this waited for messages to your own conversation; to wait for the reply to a "
    "prompt name its session and message_id."
)

logger = logging.getLogger("showcaller.relay")


async def confirm(context: CallContext) -> None:
    """Have it stored that what went out with earlier answers has come; the call is one that gets more.

    What cannot be stored now is confirmed by the next call.
    """
    call = context.external
    if call is None:
        return
    context.gets_messages = True
    if not call.confirms:
        return
    try:
        await context.ask(ToSession(call.session, TakeMessages(call.confirms)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the call itself can still be carried out
        logger.warning("That %s has its messages could not be stored: %s", call.session, error)
        return
    call.confirmed()


async def wait_for_messages(context: CallContext, call: calls.Wait) -> results.MessagesResult:
    """Wait until a message comes for the calling conversation; what waits already ends it at once."""
    clock = context.ports.clock
    until = clock.monotonic() + call.wait_seconds
    waits = True
    while not await _collect(context) and waits:
        waits = await _comes(context, until - clock.monotonic())
    number = len(context.collected or ())
    return results.MessagesResult(
        relay=context.relay,
        summary=summary("wait", counted(number, "message") if number else "nothing came"),
        note=WAITED,
    )


async def _comes(context: CallContext, seconds: float) -> bool:
    """Wait for a message that no other call has; False when none comes in time, or ever."""
    own = context.external
    assert own is not None
    if seconds <= 0:
        return False
    came = context.ask(ToSession(own.session, AwaitMessage(own.known())), timeout=seconds)
    try:
        return bool(await came)
    except Timeout:
        return False
    finally:  # also when the client has gone: the session may sleep then
        came.try_set(False)
        context.supervisor.tell(IfAwake(own.session, Look()))


async def _collect(context: CallContext) -> bool:
    """Take what waits for the calling conversation into the answer; tells whether anything does."""
    assert context.external is not None
    rows: list[Row] = await context.read("waiting_messages", session=context.external.session)
    context.collected, context.left = context.external.offer(rows)
    return bool(context.collected)


async def with_messages(context: CallContext, call: object, result: dict[str, Any]) -> dict[str, Any]:
    """Add what waits for the calling conversation to the answer of a call, be it a refusal.

    The reading of a session has ``messages`` of its own, so there they are only counted.
    """
    if context.external is None or not context.gets_messages:
        return result
    try:
        if isinstance(call, calls.ReadSession):
            return await _with_number(context, result)
        if not context.collected:
            await _collect(context)
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer must not be lost with it
        logger.warning("What waits for %s cannot be read: %s", context.external.session, error)
        return result
    given = [views.given_message(row).model_dump(mode="json", by_alias=True) for row in context.collected]
    if given:
        result = {**result, "messages": given}
    note = f"{context.left} more wait for you: they come with your next call." if context.left else None
    return _noted(result, note)


async def _with_number(context: CallContext, result: dict[str, Any]) -> dict[str, Any]:
    assert context.external is not None
    known = context.external.known()
    rows: list[Row] = await context.read("waiting_messages", session=context.external.session)
    waiting = sum(row["id"] not in known for row in rows)
    told = f"{counted(waiting, 'message')} for you: any call but read_session gives them to you."
    return _noted(result, told if waiting else None)


def _noted(result: dict[str, Any], note: str | None) -> dict[str, Any]:
    if note is None:
        return result
    return {**result, "note": f"{result['note']} {note}" if "note" in result else note}
