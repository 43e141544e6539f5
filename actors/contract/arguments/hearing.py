"""What the checks of one call's arguments share."""

from dataclasses import dataclass, field

from pydantic import ValidationInfo

from showcaller.actors.contract.limits import LONGEST_WAIT_MINUTES


@dataclass
class Hearing:
    """What one call's checks share: how long it may wait at most, and the notes they leave for its result."""

    longest_wait_seconds: int = LONGEST_WAIT_MINUTES.default * 60
    notes: list[str] = field(default_factory=list)


def hearing_of(info: ValidationInfo) -> Hearing:
    """Give the hearing of the call that is being validated; a new one where nobody keeps any."""
    return info.context if isinstance(info.context, Hearing) else Hearing()


def kind_of(value: object) -> str:
    """Name the kind of a JSON value, for a refusal."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "an array"
        case _:
            return "an object"
