"""The manifest of promises keeps what it says."""

import ast
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.contract.manifest import Promise, all_promises, read_promises

ROOT = Path(__file__).parents[2]
CEILING = Path(__file__).parent / "planned_ceiling.txt"
PROMISES = all_promises()

TOPICS = {
    "the tool contract",
    "consent",
    "watching and time",
    "paired relays",
    "supervision",
    "architecture",
    "performance",
    "the page and the command line",
}


@cache
def named_in(path: Path) -> frozenset[str]:
    """Name the tests of a file as pytest does, without parameters."""
    return frozenset(_names(ast.parse(path.read_text(encoding="utf-8")).body, ""))


def _names(body: Sequence[ast.stmt], before: str) -> list[str]:
    names: list[str] = []
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name.startswith("Test"):
            names += _names(statement.body, f"{before}{statement.name}::")
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name.startswith(
            "test_"
        ):
            names.append(before + statement.name)
    return names


def exists(test: str) -> bool:
    """Tell whether a pytest node id names a test that is there."""
    path, _, name = test.partition("::")
    return (ROOT / path).is_file() and name in named_in(ROOT / path)


def test_every_test_that_is_named_exists() -> None:
    missing = [f"{promise.id}: {test}" for promise in PROMISES for test in promise.tests if not exists(test)]
    assert missing == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    here = "tests/contract/test_promises.py"
    assert exists(f"{here}::test_a_test_that_is_not_there_is_noticed")
    assert exists("tests/actors/contract/test_shape.py::TestTexts::test_strings_are_trimmed")
    assert not exists(f"{here}::test_nothing")
    assert not exists(f"{here}::exists")
    assert not exists("tests/actors/contract/test_shape.py::test_strings_are_trimmed")
    assert not exists("tests/contract/test_nothing.py::test_nothing")


def test_no_id_and_no_promise_stands_twice() -> None:
    assert [each for each, times in Counter(promise.id for promise in PROMISES).items() if times > 1] == []
    assert [
        each for each, times in Counter(promise.promise for promise in PROMISES).items() if times > 1
    ] == []


def test_every_topic_has_its_promises() -> None:
    assert {promise.topic for promise in PROMISES} == TOPICS
    assert min(Counter(promise.topic for promise in PROMISES).values()) >= 15


def test_a_promise_is_one_short_line() -> None:
    assert [promise.id for promise in PROMISES if len(promise.promise) > 140] == []


def test_the_number_of_planned_promises_only_falls() -> None:
    planned = sum(promise.planned for promise in PROMISES)
    ceiling = int(CEILING.read_text(encoding="utf-8"))
    assert planned <= ceiling, (
        "A promise lost its test, or came without one: the number of planned ones only falls."
    )
    assert planned == ceiling, (
        f"Fewer are planned than before: write {planned} into {CEILING.relative_to(ROOT)}."
    )


def test_a_file_is_read_into_promises_with_their_tests() -> None:
    own = "zone.own: Each has its own\n    tests/a.py::test_b\n    tests/a.py::T::test_c\n"
    text = f"# time\n\n## zones\n{own}zone.two: Two\n"
    assert read_promises(text) == [
        Promise("zone.own", "time", "Each has its own", ("tests/a.py::test_b", "tests/a.py::T::test_c")),
        Promise("zone.two", "time", "Two", ()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "zone.own: before any topic",
        "# t\n    tests/a.py::test_b",
        "# t\nno promise",
        "# t\na.b: c\n    tests/a.py::test_b[1]",
    ],
)
def test_a_line_that_means_nothing_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"line \d is no promise and no test"):
        read_promises(text)
