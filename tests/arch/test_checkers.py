"""Each checker passes over the project, and fails at a fault planted in any of its rooms.

The type checkers take minutes, so each runs once, over all faults: it must find these and nothing else.
"""

import pytest

from tests.arch.checkout import Checkout

pytestmark = pytest.mark.slow

PLANTED = (
    "showcaller/planted.py",
    "actors/relay/planted.py",
    "transport/wire/planted.py",
    "store/planted.py",
    "tests/store/planted.py",
    "bench/planted.py",
)
WRONG_TYPE = '"""A planted fault."""\n\nNUMBER: int = "not a number"\n'
UNTYPED = '"""A planted fault."""\n\n\ndef untyped(value):\n    return value\n'
USES_THE_NAMES = '''"""A program that uses every public name."""

import showcaller
from showcaller import Actor, Relay, __version__


class Greeter(Actor):
    """An actor of somebody else."""


VERSION: str = __version__
SAME: tuple[type[Actor], type[Relay]] = (showcaller.Actor, showcaller.Relay)
UNKNOWN = showcaller.Stage
'''
NAMES = "bench/planted_names.py"
STRICT = "store/planted_untyped.py"
UNUSED_IMPORT = '"""A planted fault."""\n\nimport json\n'


def unnamed(text: str) -> list[str]:
    """Name the planted modules that a checker said nothing about; links and real folders both count."""
    return [path for path in PLANTED if path not in text.replace("showcaller/actors", "actors")]


def errors_beside(text: str, *expected: str) -> list[str]:
    """Give the lines in which a type checker tells of an error that is in none of these files."""
    lines = [line.replace("showcaller/actors", "actors") for line in text.splitlines()]
    return [line for line in lines if "error:" in line and not any(path in line for path in expected)]


def errors_in(text: str, path: str) -> list[str]:
    """Give the lines in which a type checker tells of an error in a file."""
    return [line for line in text.splitlines() if "error:" in line and path in line]


def test_mypy_finds_a_wrong_type_in_every_room_and_nothing_else(planted: Checkout) -> None:
    for path in PLANTED:
        planted.plant(path, WRONG_TYPE)
    planted.plant(NAMES, USES_THE_NAMES)
    planted.plant(STRICT, UNTYPED)
    outcome = planted.mypy()
    assert outcome.code == 1, outcome.text
    assert unnamed(outcome.text) == []
    assert outcome.text.count("[assignment]") == len(PLANTED), outcome.text
    assert ["[no-untyped-def]" in line for line in errors_in(outcome.text, STRICT)] == [True], "it is strict"
    assert ["Stage" in line for line in errors_in(outcome.text, NAMES)] == [True], outcome.text
    assert errors_beside(outcome.text, *PLANTED, NAMES, STRICT) == []


def test_pyright_finds_a_wrong_type_in_every_room_and_nothing_else(planted: Checkout) -> None:
    for path in PLANTED:
        planted.plant(path, WRONG_TYPE)
    planted.plant(NAMES, USES_THE_NAMES)
    outcome = planted.pyright()
    assert outcome.code == 1, outcome.text
    assert unnamed(outcome.text) == []
    assert outcome.text.count("reportAssignmentType") == len(PLANTED), outcome.text
    assert ["Stage" in line for line in errors_in(outcome.text, NAMES)] == [True], outcome.text
    assert errors_beside(outcome.text, *PLANTED, NAMES) == []


def test_ruff_passes(clean: Checkout) -> None:
    outcome = clean.ruff()
    assert outcome.code == 0, outcome.text


def test_ruff_finds_an_unused_import_in_every_room(planted: Checkout) -> None:
    for path in PLANTED:
        planted.plant(path, UNUSED_IMPORT)
    outcome = planted.ruff()
    assert outcome.code == 1, outcome.text
    assert unnamed(outcome.text) == []
    assert outcome.text.count("F401") == len(PLANTED), outcome.text


# Line 13 is found where the name comes from, in line 5.
READS_THE_TIME = '''"""A planted fault."""

import time
from datetime import date, datetime
from time import monotonic

READINGS = [
    time.time(),
    time.time_ns(),
    time.perf_counter(),
    time.perf_counter_ns(),
    time.monotonic_ns(),
    monotonic(),
    datetime.now(tz=None),
    datetime.utcnow(),
    date.today(),
]
'''


@pytest.mark.parametrize("room", ["actors/relay", "actors/runtime", "transport/wire", "store", "showcaller"])
def test_ruff_lets_only_the_clock_read_the_time(planted: Checkout, room: str) -> None:
    planted.plant(f"{room}/planted.py", READS_THE_TIME)
    outcome = planted.ruff()
    found = [line for line in outcome.text.splitlines() if "TID251" in line]
    assert {int(line.split(":")[1]) for line in found} == {5, 8, 9, 10, 11, 12, 14, 15, 16}, outcome.text
    assert all(f"{room}/planted.py" in line and "Only clock.py" in line for line in found)


def test_ruff_lets_the_clock_read_the_time(planted: Checkout) -> None:
    planted.plant("actors/runtime/clock.py", READS_THE_TIME)
    assert "TID251" not in planted.ruff().text
