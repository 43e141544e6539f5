"""Which connection of a client a request belongs to, without keeping any: the client names it."""

import hashlib
from collections.abc import Sequence
from secrets import token_urlsafe
from typing import Final

from showcaller.actors.contract.idempotency import request_client_id
from showcaller.transport.doors.mcp.messages import RequestId

SESSION_HEADER: Final = "mcp-session-id"


def new_connection() -> str:
    """Give the name of a connection, which its client sends with every further request."""
    return token_urlsafe(16)


def connection_in(headers: Sequence[tuple[bytes, bytes]]) -> str | None:
    """Give the connection that a request names, in a form of fixed length; None when it names none.

    Any name is taken: a relay that was started again knows none of those that it gave, and a client goes on
    without noticing. The bridge over standard input and output makes its own.
    """
    given = [value for name, value in headers if name == SESSION_HEADER.encode()]
    if len(given) != 1 or not given[0]:
        return None
    return hashlib.sha256(given[0]).hexdigest()[:32]


def client_id_of(connection: str | None, request: RequestId) -> str | None:
    """Give the id that makes a repeat of a write harmless; it is scoped to the caller by the relay.

    A repeat is known by the connection's name and the request's id, which a client sends again when it had
    no answer. A client without a connection (one of protocol 2026-07-28, which has none, and one that leaves
    the name out) numbers its requests from 1 each time that it starts, so its ids tell nothing: it has no
    repeats.
    """
    return None if connection is None else request_client_id(connection, request)
