"""Every error code of the contract, its HTTP status, and the refusal that carries one."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from showcaller.actors.contract.field_names import result_name


class Code(StrEnum):
    """Why a call was refused; the value is what a caller reads in ``code``."""

    INVALID_INPUT = "REMOTE_RELAY_INVALID_INPUT"
    OWN_SESSION = "REMOTE_RELAY_OWN_SESSION"
    PROVIDER_UNAVAILABLE = "REMOTE_RELAY_PROVIDER_UNAVAILABLE"
    UNKNOWN_MODEL = "REMOTE_RELAY_UNKNOWN_MODEL"
    UNKNOWN_GROUP = "REMOTE_RELAY_UNKNOWN_GROUP"
    UNAUTHENTICATED = "REMOTE_RELAY_UNAUTHENTICATED"
    LOCKED = "REMOTE_RELAY_LOCKED"
    FORBIDDEN = "REMOTE_RELAY_FORBIDDEN"
    LOCAL_DISABLED = "REMOTE_RELAY_LOCAL_DISABLED"
    NESTED_SESSION = "REMOTE_RELAY_NESTED_SESSION"
    HOP_LIMIT = "REMOTE_RELAY_HOP_LIMIT"
    APPROVAL_DENIED = "REMOTE_RELAY_APPROVAL_DENIED"
    PERMISSION = "REMOTE_RELAY_PERMISSION"
    NO_ACTIVE_TURN = "REMOTE_RELAY_NO_ACTIVE_TURN"
    INBOUND_DISABLED = "REMOTE_INBOUND_DISABLED"
    UNKNOWN = "REMOTE_RELAY_UNKNOWN"
    NOT_FOUND = "REMOTE_RELAY_NOT_FOUND"
    BUSY = "REMOTE_RELAY_BUSY"
    SESSION_LIMIT = "REMOTE_RELAY_SESSION_LIMIT"
    SUBSCRIPTION_LIMIT = "REMOTE_RELAY_SUBSCRIPTION_LIMIT"
    SCHEDULE_LIMIT = "REMOTE_RELAY_SCHEDULE_LIMIT"
    QUESTION_LIMIT = "REMOTE_RELAY_QUESTION_LIMIT"
    QUEUE_LIMIT = "REMOTE_RELAY_QUEUE_LIMIT"
    ALREADY_ANSWERED = "REMOTE_RELAY_ALREADY_ANSWERED"
    RATE_LIMITED = "REMOTE_RELAY_RATE_LIMITED"
    INTERNAL = "REMOTE_RELAY_INTERNAL"
    OFFLINE = "REMOTE_RELAY_OFFLINE"
    UNAUTHORIZED = "REMOTE_RELAY_UNAUTHORIZED"
    UNSUPPORTED = "REMOTE_RELAY_UNSUPPORTED"
    START_FAILED = "REMOTE_RELAY_START_FAILED"
    UNAVAILABLE = "REMOTE_RELAY_UNAVAILABLE"
    STORAGE = "REMOTE_RELAY_STORAGE"
    CALL_FAILED = "REMOTE_RELAY_CALL_FAILED"
    CANCELLED = "REMOTE_RELAY_CANCELLED"

    @property
    def http_status(self) -> int | None:
        """The HTTP status of an answer with this code; None for codes that only a door gives."""
        return HTTP_STATUS[self]


_NAMED: Final = 5

_BY_STATUS: Final[dict[int | None, tuple[Code, ...]]] = {
    400: (
        Code.INVALID_INPUT,
        Code.OWN_SESSION,
        Code.PROVIDER_UNAVAILABLE,
        Code.UNKNOWN_MODEL,
        Code.UNKNOWN_GROUP,
    ),
    401: (Code.UNAUTHENTICATED,),
    403: (
        Code.LOCKED,
        Code.FORBIDDEN,
        Code.LOCAL_DISABLED,
        Code.NESTED_SESSION,
        Code.HOP_LIMIT,
        Code.APPROVAL_DENIED,
        Code.PERMISSION,
        Code.NO_ACTIVE_TURN,
        Code.INBOUND_DISABLED,
    ),
    404: (Code.UNKNOWN, Code.NOT_FOUND),
    409: (
        Code.BUSY,
        Code.SESSION_LIMIT,
        Code.SUBSCRIPTION_LIMIT,
        Code.SCHEDULE_LIMIT,
        Code.QUESTION_LIMIT,
        Code.QUEUE_LIMIT,
        Code.ALREADY_ANSWERED,
    ),
    429: (Code.RATE_LIMITED,),
    500: (Code.INTERNAL,),
    502: (Code.OFFLINE, Code.UNAUTHORIZED, Code.UNSUPPORTED, Code.START_FAILED),
    503: (Code.UNAVAILABLE,),
    507: (Code.STORAGE,),
    None: (Code.CALL_FAILED, Code.CANCELLED),
}

HTTP_STATUS: Final = MappingProxyType(
    {code: status for status, codes in _BY_STATUS.items() for code in codes}
)
"""The HTTP status of each code; None for codes that only a door gives."""


class Refusal(Exception):
    """A call that is not carried out, with what its caller needs to go on.

    Args:
        code: why.
        error: one or two sentences that an agent can act on.
        fields: what helps further, as plain JSON values under snake_case names
            (``suggestions``, ``models``, ``retry_after_seconds``…).

    """

    def __init__(self, code: Code, error: str, **fields: Any) -> None:
        super().__init__(error)
        self.code = code
        self.error = error
        self.fields = fields

    def __str__(self) -> str:
        return self.error

    def to_result(self) -> dict[str, Any]:
        """Give the JSON object that the caller reads; further fields get their names as in any result."""
        further = {result_name(name): value for name, value in self.fields.items()}
        return {"ok": False, "code": self.code.value, "error": self.error, **further}


def invalid(error: str, **fields: Any) -> Refusal:
    """Make the refusal of a missing, malformed, ambiguous or foreign argument."""
    return Refusal(Code.INVALID_INPUT, error, **fields)


def ambiguity(name: str, kind: str, by: str = "its id", meant: Sequence[str] = ()) -> str:
    """Give the sentence for a name, quoted, that can mean several things; ``kind`` is their plural.

    ``meant`` are those that it can mean, of which it names the first few.
    """
    named = ", ".join([*meant[:_NAMED], *["…"] * (len(meant) > _NAMED)])
    return f"{name} can mean several {kind}: name one by {by}{f' ({named})' if named else ''}."


def ambiguous(code: Code, error: str, **fields: Any) -> Refusal:
    """Make the refusal of a name that can mean several things, which ``fields`` tell; see ``ambiguity``."""
    return Refusal(code, error, ambiguous=True, **fields)


_BY_VALUE: Final = {code.value: code for code in Code}


def refusal_in(result: Mapping[str, Any]) -> Refusal:
    """Give the refusal that a result is; its further fields keep the names that they have there."""
    code = _BY_VALUE.get(str(result.get("code")), Code.CALL_FAILED)
    fields = {name: value for name, value in result.items() if name not in {"ok", "code", "error"}}
    return Refusal(code, str(result.get("error", "No reason given.")), **fields)
