"""How an agent is set: what it offers to choose from, and what is to be changed for a turn. Pure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from acp import schema

    ConfigOption = schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean

MODES: Final[dict[str, tuple[str, ...]]] = {
    "ask": ("ask", "default", "read-only", "manual"),
    "plan": ("plan", "architect", "read-only"),
    "agent": ("agent", "code", "build", "default", "auto", "normal"),
    "autopilot": ("autopilot", "bypasspermissions", "full-access", "yolo", "auto-approve", "acceptedits"),
}
"""Of each mode, the names that agents have for it, the fitting first."""
INSTRUCTIONS: Final = {
    "ask": "Mode: ask. Clear up the question first, and change nothing unasked.",
    "plan": "Mode: plan. Make a plan and do not carry it out.",
    "autopilot": "Mode: autopilot. Act first, and ask only when you are truly blocked.",
}
"""What an agent is told that has no such mode; to work normally needs no words."""

MOST: Final = 500
"""Values of one choice that are known."""
LONGEST: Final = 200
"""Characters of a value."""


class NotOfferedError(Exception):
    """The agent does not offer what was named; the text lists what it does."""


class Choice(NamedTuple):
    """One thing to choose: the option that it is, its values, and the present one."""

    option: str
    values: tuple[str, ...]
    value: str


class Offer(NamedTuple):
    """What an agent offers in a conversation; ``mode_option`` says that the modes are an option too."""

    modes: Choice | None = None
    model: Choice | None = None
    effort: Choice | None = None
    mode_option: bool = False


class Change(NamedTuple):
    """One request that sets an agent: a mode where ``option`` is None, else an option."""

    option: str | None
    value: str


class Changes(NamedTuple):
    """What is requested before the prompt, in order, and a line that goes with the prompt.

    ``mode_is_asked``: the first of the changes sets the mode. An agent may refuse it: then the ``fallback``
    goes with the prompt.
    """

    changes: tuple[Change, ...] = ()
    mode_is_asked: bool = False
    instruction: str | None = None
    fallback: str | None = None


def offer_of(
    modes: "schema.SessionModeState | None", options: "Iterable[ConfigOption] | None", model_option: str
) -> Offer:
    """Give what an agent offers; ``model_option`` is the option that its entry names as its model."""
    selects = [option for option in options or () if option.type == "select"]
    by_modes = None
    if modes is not None and modes.available_modes:
        ids = _bounded(mode.id for mode in modes.available_modes)
        by_modes = Choice("", ids, modes.current_mode_id)
    by_option = _found(selects, ("mode",), "mode")
    return Offer(
        by_modes or by_option,
        _found(selects, (model_option, "model"), "model"),
        _found(selects, ("effort", "reasoning_effort", "thought_level"), "thought_level"),
        by_modes is None and by_option is not None,
    )


def changes_for(offer: Offer, model: str | None, mode: str | None, effort: str | None) -> Changes:
    """Give what sets an agent as a turn wants it; what is None stays as it is.

    A model or effort passes unchecked, and unset, where the agent offers no choice at all. Raises
    NotOfferedError for one that is not among those that it offers.
    """
    changes: list[Change] = []
    own = own_mode(offer, mode)
    if own is not None and offer.modes is not None and own != offer.modes.value:
        changes.append(Change(offer.modes.option if offer.mode_option else None, own))
    mode_is_asked = bool(changes)
    for what, choice, value in (("model", offer.model, model), ("effort", offer.effort, effort)):
        if value is None or choice is None:
            continue
        if value not in choice.values:
            listed = ", ".join(choice.values[:50])
            raise NotOfferedError(f"the agent offers no {what} {value!r}; it has: {listed}")
        if value != choice.value:
            changes.append(Change(choice.option, value))
    words = INSTRUCTIONS.get(mode or "")
    return Changes(tuple(changes), mode_is_asked, words if own is None else None, words)


def own_mode(offer: Offer, mode: str | None) -> str | None:
    """Give the agent's name for a mode of ours; None when it has none."""
    if mode is None or offer.modes is None:
        return None
    by_name = {_bare(value): value for value in reversed(offer.modes.values)}
    return next((by_name[_bare(name)] for name in MODES.get(mode, ()) if _bare(name) in by_name), None)


def with_mode(offer: Offer, mode: str) -> Offer:
    """Give the offer after the agent has changed its mode."""
    return offer if offer.modes is None else offer._replace(modes=offer.modes._replace(value=mode))


def _bare(name: str) -> str:
    """Give the last part of a mode's name, which may be an address, without case and dashes."""
    return name.rpartition("#")[2].rpartition("/")[2].replace("-", "").replace("_", "").lower()


def _found(
    selects: "Sequence[schema.SessionConfigOptionSelect]", names: Sequence[str], category: str
) -> Choice | None:
    for name in names:
        for option in selects:
            if option.id == name:
                return _choice(option)
    return next((_choice(option) for option in selects if option.category == category), None)


def _choice(option: "schema.SessionConfigOptionSelect") -> Choice:
    values: list[str] = []
    for entry in option.options:
        values += [entry.value] if hasattr(entry, "value") else [inner.value for inner in entry.options]
    return Choice(option.id, _bounded(values), option.current_value)


def _bounded(values: Iterable[str]) -> tuple[str, ...]:
    """Leave out what nobody could name: an agent may offer anything."""
    return tuple(value for value in values if len(value) <= LONGEST)[:MOST]
