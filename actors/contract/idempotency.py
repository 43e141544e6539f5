"""When two writes are one: the id that a client gives a write, and what was sent under it before."""

import hashlib
import json
import re
from typing import Final

from showcaller.actors.contract.calls import CallModel
from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.limits import IDEMPOTENCY_DAYS

LONGEST: Final = 255
"""Characters of a client id."""

_VISIBLE: Final = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_DAY: Final = 86_400_000
# How long a caller waits for what it sent changes nothing of what happens.
_NO_PART_OF_THE_BODY: Final = {"action", "wait_seconds"}


def client_id_of(text: object) -> str:
    """Check the id that came with a write: ``Idempotency-Key``, ``--id`` or ``id=``.

    It is scoped to the caller: two callers who choose the same id have two ids.

    Raises:
        Refusal: for no text, an empty one, one over 255 characters, and one that is not visible ASCII in
            one line.

    """
    if not isinstance(text, str):
        raise invalid(f"The id of this call must be text; a value of type {type(text).__name__} came.")
    if len(text) > LONGEST or not _VISIBLE.fullmatch(text):
        shown = quote_foreign(text, 80)
        raise invalid(f"The id {shown} of this call must be 1 to {LONGEST} visible ASCII characters.")
    return text


def request_client_id(connection: str, request: int | str) -> str:
    """Give the client id of a request over MCP, where the number 1 and the text "1" are two requests."""
    return f"mcp:{connection}:{hashlib.sha256(json.dumps(request).encode()).hexdigest()[:32]}"


def fingerprint(call: CallModel) -> str:
    """Give what two calls share that ask for the same effect: 64 hexadecimal characters.

    Arguments that were left out count as their defaults, so a later version that has more of them gives the
    same. A relay has several names: give calls in which it is resolved to one.
    """
    body = call.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=_NO_PART_OF_THE_BODY)
    action = type(call).model_fields["action"].default
    return hashlib.sha256(json.dumps([action, body], sort_keys=True).encode()).hexdigest()


def check_repeat(client_id: str, stored: str, call: CallModel) -> None:
    """Let a write that came before under the same id of the same caller be repeated.

    Args:
        client_id: the id of both.
        stored: the fingerprint of the first.
        call: the second.

    Raises:
        Refusal: when the second asks for another effect.

    """
    if stored != fingerprint(call):
        raise invalid(
            f"The id {quote_foreign(client_id, 80)} was used for another call: "
            f"use each id for one call and its repeats. {call.nothing}".strip()
        )


def is_kept(stored_at: int, now: int) -> bool:
    """Tell whether a write still answers for its id; both in milliseconds since the epoch."""
    return now - stored_at < IDEMPOTENCY_DAYS * _DAY
