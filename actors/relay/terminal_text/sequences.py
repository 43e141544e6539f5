"""Terminal output taken apart: text, controls and escape sequences, each turned into a step of a screen."""

import re
from collections.abc import Callable
from typing import Final

from showcaller.actors.relay.terminal_text.screen import Screen

# Once an alternative has begun it takes what it can and cannot fail, so the whole is read once, from left to
# right. A string (title, link, picture) ends with its line if nothing else ends it, or a lone introducer
# would swallow all that follows.
_TOKEN: Final = re.compile(
    r"""
      (?P<text> [\ -~]+ )
    | (?P<control> [\x00-\x1a\x1c-\x1f\x7f] )
    | (?: \x1b\[ | \x9b ) (?P<csi> (?P<parameters> [0-?]* ) [\ -/]* [@-~]? )
    | \x1b (?: [\]PX^_] [^\x07\x18\x1a\x1b\x9c\n]* (?: \x07 | \x1b\\ | [\x18\x1a\x9c] )? )
    | \x1b (?P<escape> [\ -/]* [0-~]? )
    | (?P<other> [^\x00-\x7f\x9b]+ )
    """,
    re.VERBOSE,
)
_DIGITS: Final = 6
_LARGEST: Final = 10**_DIGITS

_CONTROLS: Final[dict[str, Callable[[Screen], None]]] = {
    "\n": Screen.line_feed,
    "\v": Screen.line_feed,
    "\f": Screen.line_feed,
    "\r": Screen.carriage_return,
    "\b": Screen.backspace,
    "\t": Screen.tab,
}

_ESCAPES: Final[dict[str, Callable[[Screen], None]]] = {
    "7": Screen.save,
    "8": Screen.restore,
    "c": Screen.reset,
    "D": lambda screen: screen.down(1),
    "E": Screen.line_feed,
    "M": lambda screen: screen.up(1),
}


def _place(screen: Screen, parameters: list[int]) -> None:
    screen.to_line(_count(parameters, 0) - 1)
    screen.to_column(_count(parameters, 1) - 1)


def _next_line(screen: Screen, parameters: list[int]) -> None:
    screen.down(_count(parameters))
    screen.carriage_return()


def _previous_line(screen: Screen, parameters: list[int]) -> None:
    screen.up(_count(parameters))
    screen.carriage_return()


def _count(parameters: list[int], at: int = 0) -> int:
    return max(1, parameters[at]) if at < len(parameters) else 1


_COMMANDS: Final[dict[str, Callable[[Screen, list[int]], None]]] = {
    "A": lambda screen, given: screen.up(_count(given)),
    "B": lambda screen, given: screen.down(_count(given)),
    "C": lambda screen, given: screen.forward(_count(given)),
    "D": lambda screen, given: screen.back(_count(given)),
    "E": _next_line,
    "F": _previous_line,
    "G": lambda screen, given: screen.to_column(_count(given) - 1),
    "H": _place,
    "J": lambda screen, given: screen.erase_in_screen(given[0]),
    "K": lambda screen, given: screen.erase_in_line(given[0]),
    "L": lambda screen, given: screen.shift_lines(_count(given)),
    "M": lambda screen, given: screen.shift_lines(-_count(given)),
    "P": lambda screen, given: screen.shift_characters(-_count(given)),
    "X": lambda screen, given: screen.erase_characters(_count(given)),
    "@": lambda screen, given: screen.shift_characters(_count(given)),
    "a": lambda screen, given: screen.forward(_count(given)),
    "b": lambda screen, given: screen.repeat(_count(given)),
    "d": lambda screen, given: screen.to_line(_count(given) - 1),
    "e": lambda screen, given: screen.down(_count(given)),
    "f": _place,
    "s": lambda screen, given: screen.save(),
    "u": lambda screen, given: screen.restore(),
    "`": lambda screen, given: screen.to_column(_count(given) - 1),
}

_ALTERNATE: Final = frozenset({47, 1047, 1049})


def play(screen: Screen, raw: str) -> None:
    """Carry out everything in ``raw`` on a screen; what is unknown, unfinished or malformed does nothing."""
    for token in _TOKEN.finditer(raw):
        kind = token.lastgroup
        if kind == "text":
            screen.write(token["text"])
        elif kind == "other":
            screen.write_wide(token["other"])
        elif kind == "control":
            if step := _CONTROLS.get(token["control"]):
                step(screen)
        elif kind == "csi":
            _command(screen, token["csi"], token["parameters"])
        elif kind == "escape" and (step := _ESCAPES.get(token["escape"])):
            step(screen)


def _command(screen: Screen, whole: str, parameters: str) -> None:
    if parameters[:1] == "?":
        if whole[-1] in "hl" and _ALTERNATE.intersection(_numbers(parameters[1:])):
            (screen.open_alternate if whole[-1] == "h" else screen.close_alternate)()
    elif step := _COMMANDS.get(whole[len(parameters) :]):
        step(screen, _numbers(parameters))


def _numbers(parameters: str) -> list[int]:
    return [_number(each) for each in parameters.split(";", 16)]


def _number(digits: str) -> int:
    if not digits.isdecimal():
        return 0
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _DIGITS else _LARGEST
