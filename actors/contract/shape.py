"""The shape of a call: JSON as it came, in; a typed call, or the refusal that says what to mend, out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import JsonValue, ValidationError
from pydantic.fields import FieldInfo

from showcaller.actors.contract.actions import Action, find_action, unknown_action, unsupported
from showcaller.actors.contract.arguments import Hearing
from showcaller.actors.contract.calls import Call, CallModel
from showcaller.actors.contract.emptiness import absent, absent_foreign, clean, is_empty
from showcaller.actors.contract.errors import Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.json_text import parse_json, plain_value
from showcaller.actors.contract.limits import CALL_BYTES, CALL_PARTS, IGNORED_NAMES, LONGEST_WAIT_MINUTES
from showcaller.actors.contract.owner_arguments import is_owners, owners_row
from showcaller.actors.contract.problems import named_problem

_THIS_RELAY: Final = 'relay ("this" is this relay)'
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class ShapedCall:
    """A call of any action, whether or not it is carried out, that has the right shape.

    ``action`` is its row of the table; ``ignored`` names what the action does not take, 20 at most; ``notes``
    are sentences about what was taken otherwise than sent, such as a number beyond its range.
    """

    call: CallModel
    action: Action
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call of an action that is carried out; the fields are those of ``ShapedCall``."""

    call: Call
    action: Action
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def parse_call(
    raw: object,
    *,
    longest_wait_seconds: int = LONGEST_WAIT_MINUTES.default * 60,
    external: bool = False,
    owner: bool = False,
) -> ParsedCall:
    """Make a typed call, of an action that is carried out, of what a door received.

    Takes what ``shape_call`` takes; ``owner``: it may say what only an owner may. That this version does not
    carry an action out is said before anything else of the call: nobody should have to get its arguments
    right to learn that.

    Raises:
        Refusal: for everything else, whatever it is.

    """
    row, given = _action_and_arguments(raw)
    if not row.available:
        raise unsupported(row)
    shaped = _shaped(
        owners_row(row) if owner else row, given, Hearing(longest_wait_seconds), external=external
    )
    assert isinstance(shaped.call, Call)
    return ParsedCall(shaped.call, shaped.action, shaped.ignored, shaped.notes)


def shape_call(
    raw: object, *, longest_wait_seconds: int = LONGEST_WAIT_MINUTES.default * 60, external: bool = False
) -> ShapedCall:
    """Make a typed call of what a door received.

    Args:
        raw: a JSON object as Python values, or its text (``str`` or ``bytes``).
        longest_wait_seconds: the relay's setting; a longer wait is cut to it, and a note says so.
        external: the caller is an external session, which may wait without naming a message.

    Raises:
        Refusal: for everything else, whatever it is.

    """
    row, given = _action_and_arguments(raw)
    return _shaped(row, given, Hearing(longest_wait_seconds), external=external)


def _action_and_arguments(raw: object) -> tuple[Action, dict[str, JsonValue]]:
    given = _arguments(raw)
    return _row(given.pop("action", None)), given


def _shaped(row: Action, given: dict[str, JsonValue], hearing: Hearing, *, external: bool) -> ShapedCall:
    model = row.model
    own = _arguments_of(model)
    taken = {name: clean(value, own[name]) for name, value in given.items() if name in own}
    taken = {name: value for name, value in taken.items() if not is_empty(value)}
    foreign = [_shown(name) for name, value in given.items() if name not in own and _is_said(name, value)]
    if foreign and model.refuses_foreign:
        raise _takes_not(row, foreign)
    _check_required(row, taken, external=external)
    call = _validated(row, taken, hearing)
    return ShapedCall(call, row, tuple(foreign[:IGNORED_NAMES]), tuple(hearing.notes))


def _is_said(name: str, value: JsonValue) -> bool:
    """Tell whether an argument that the action does not take counts; of what is the owner's ``false`` too."""
    return not (absent(value) if is_owners(name) else absent_foreign(value))


@cache
def _arguments_of(model: type[CallModel]) -> Mapping[str, FieldInfo]:
    """Give what calls of this model may say, by the names under which they do."""
    return {field.alias or name: field for name, field in model.model_fields.items() if name != "action"}


def _arguments(raw: object) -> dict[str, JsonValue]:
    raw = parse_json(raw, CALL_BYTES, CALL_PARTS) if isinstance(raw, str | bytes) else plain_value(raw)
    if not isinstance(raw, dict):
        raise invalid('A call is a JSON object, as in {"action": "list_sessions", "relay": "this"}.')
    return raw


def _row(name: JsonValue) -> Action:
    if name is None or (isinstance(name, str) and not name.strip()):
        raise unknown_action(None)
    if not isinstance(name, str):
        raise invalid("action must be text: the name of an action, as in list_sessions.")
    return find_action(name.strip())


def _shown(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quote_foreign(name, 64)


def _takes_not(row: Action, foreign: list[str]) -> Refusal:
    named, own = ", ".join(foreign[:IGNORED_NAMES]), row.arguments
    return invalid(
        f"{row.name} does not take: {named}. Its arguments: {', '.join(own)}. {row.model.nothing}",
        arguments=list(own),
    )


def _check_required(row: Action, taken: Mapping[str, JsonValue], *, external: bool) -> None:
    model = row.model
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    if not external or model.not_external & taken.keys():
        required += [name for name in model.model_fields if name in model.not_external]
    missing = [name for name in required if name not in taken]
    if missing:
        shown = [_THIS_RELAY if name == "relay" else name for name in missing]
        raise invalid(_sentence(row, f"needs {' and '.join(shown)}"), missing_arguments=missing)
    if model.one_of and not taken.keys() & set(model.one_of):
        needed = f"needs at least one of {', '.join(model.one_of)}"
        raise invalid(_sentence(row, needed), missing_arguments=list(model.one_of))


def _validated(row: Action, taken: Mapping[str, JsonValue], hearing: Hearing) -> CallModel:
    try:
        return row.model.model_validate(taken, context=hearing)
    except ValidationError as error:
        problems = "; ".join(named_problem(each) for each in error.errors(include_url=False)[:5])
        raise invalid(_sentence(row, problems)) from error


def _sentence(row: Action, problem: str) -> str:
    return f"{row.name}: {problem}. {row.model.nothing}".strip()
