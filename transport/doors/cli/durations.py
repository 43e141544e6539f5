"""Durations as people type them: ``30s``, ``5m``, ``1h30m``, ``500ms``, a bare number of seconds."""

import math
import re

import click

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_BARE = re.compile(r"\d+(?:\.\d+)?")
LONGEST = 366 * 86400.0


def parse_duration(text: str) -> float:
    """Give the seconds that the text means; raises ``ValueError`` for anything but 0 to a year."""
    compact = text.strip().lower()
    if _BARE.fullmatch(compact):
        seconds = float(compact)
    elif compact and re.fullmatch(f"(?:{_PART.pattern})+", compact):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(compact))
    else:
        raise ValueError(f"{text!r} is no duration; write one like 30s, 5m, 1h30m or 500ms")
    if not 0 < seconds <= LONGEST or not math.isfinite(seconds):
        raise ValueError(f"{text!r} must be more than nothing and at most a year")
    return seconds


class Duration(click.ParamType[float]):
    """An option's value that is a duration; gives seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Give seconds, or fail as a usage error."""
        if isinstance(value, float):
            return value
        try:
            return parse_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
