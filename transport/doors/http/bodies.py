"""Bodies of requests: no longer than allowed, and there within a time."""

import asyncio
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from starlette.requests import Request

from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.json_text import parse_json
from showcaller.actors.contract.problems import problem

AnyModel = TypeVar("AnyModel", bound=BaseModel)

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


async def read_model(request: Request, most: int, model: type[AnyModel]) -> AnyModel:
    """Read a body that is a JSON object of this model; nothing at all counts as an empty one.

    Raises ``Refusal`` that names each field which is not as it should be.
    """
    return checked_body(await read_object(request, most), model)


def checked_body(body: Mapping[str, object], model: type[AnyModel]) -> AnyModel:
    """Make the model of a body; raises ``Refusal`` that names what is wrong with it."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:5]
        problems = "; ".join(f"{_field(one['loc'])} {problem(one)}" for one in found)
        raise invalid(f"The body is refused: {problems[:500]}.") from error


def _field(place: tuple[int | str, ...]) -> str:
    return ascii(".".join(map(str, place)))[1:-1][:80] or "the whole"


def idempotency_key(request: Request) -> str | None:
    """Give the ``Idempotency-Key`` of a request, None without; raises ``Refusal`` for several."""
    keys = request.headers.getlist("idempotency-key")
    if len(keys) > 1:
        raise invalid("Give one Idempotency-Key.")
    return keys[0] if keys else None


def _too_long(most: int) -> UnreadBody:
    refusal = invalid(f"The body is longer than the {most} bytes that are taken here.")
    return UnreadBody(refusal.code, refusal.error)
