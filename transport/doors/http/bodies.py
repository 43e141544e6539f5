"""Bodies of requests: no longer than allowed, and there within a time."""

import asyncio
from typing import Final

from pydantic import JsonValue
from starlette.requests import Request

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.json_text import parse_json

FANOUT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of JSON that the beginning of one fan-out takes, all its items together."""
SMALL_BYTES: Final = 4096
BODY_SECONDS: Final = 20.0


class UnreadBody(Refusal):
    """A body was not read to its end, so that its connection cannot be used for another request."""


async def read_body(request: Request, most: int, seconds: float = BODY_SECONDS) -> bytes:
    """Read a body of up to ``most`` bytes; raises ``UnreadBody`` for a longer and for a slow one."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise _too_long(most)
    chunks: list[bytes] = []
    length = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                length += len(chunk)
                if length > most:
                    raise _too_long(most)
                chunks.append(chunk)
    except TimeoutError as error:
        refusal = invalid(f"The body did not arrive within {seconds:g} seconds.")
        raise UnreadBody(refusal.code, refusal.error) from error
    return b"".join(chunks)


async def read_object(request: Request, most: int) -> dict[str, JsonValue]:
    """Read a body that is a JSON object; nothing at all counts as an empty one. Raises ``Refusal``."""
    body = await read_body(request, most)
    value = parse_json(body, most) if body else {}
    if not isinstance(value, dict):
        raise invalid("The body is a JSON object.")
    return value


def _too_long(most: int) -> UnreadBody:
    refusal = invalid(f"The body is longer than the {most} bytes that are taken here.")
    return UnreadBody(refusal.code, refusal.error)
