import json
from enum import IntEnum
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.json_text import DEEPEST, check_value, parse_json, plain_value

MOST = 10_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("{'a': 1}", "no JSON"),
        ('{"a": 1} x', "no JSON"),
        ('{"a": 1, "a": 1}', 'The name "a" comes twice'),
        ('[{"b": {"a\\n": 1, "a\\n": 2}}]', r'The name "a\n" comes twice'),
        ("NaN", "NaN is no number"),
        ("[Infinity]", "Infinity is no number"),
        ("-Infinity", "-Infinity is no number"),
        ("1e400", "beyond 64 bits"),
        (str(2**64), "beyond 64 bits"),
        (str(-(2**63) - 1), "beyond 64 bits"),
        ("9" * 5000, "beyond 64 bits"),
        ('"\\ud800"', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ("[" * 65 + "]" * 65, "64 levels"),
        ("[" * 4000 + "]" * 4000, "64 levels"),
        ('{"a":' * 65 + "1" + "}" * 65, "64 levels"),
        (b"\xff", "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        ("\ud800", "UTF-8"),
        ('"' + "a" * MOST + '"', "10002 bytes; 10000 are the most"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_the_reason(text: str | bytes, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_json(text, MOST)
    assert reason in refused.value.error
    assert len(refused.value.error) < 300


def test_the_deepest_and_the_largest_are_still_taken() -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert parse_json(deep, MOST) == json.loads(deep)
    assert parse_json(f"[{2**64 - 1}, {-(2**63)}]", MOST) == [2**64 - 1, -(2**63)]
    assert parse_json('"\\ud83d\\ude00"', MOST) == "😀"


def test_too_many_values_are_refused_before_any_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    for text in ("[" + "0," * 100 + "0]", "[" * 101, '{"a":' * 101, '[1,"' + '",1,"' * 60):
        with pytest.raises(Refusal, match="more than 100 parts"):
            parse_json(text, MOST, most_parts=100)


def test_what_a_text_holds_is_no_part_of_the_value() -> None:
    text = json.dumps(["[{,]" * 1000, 'say "no, [or] {yes}"', "one \\ and two"])
    assert parse_json(text, MOST, most_parts=5) == json.loads(text)
    quotes, escapes = '"' + '\\"' * 400_000, '"a\\' * 300_000
    for unending in (quotes, escapes, '"' * 900_001):  # in one look at it each
        with pytest.raises(Refusal, match="no JSON"):
            parse_json(unending, 1024 * 1024, most_parts=5)


@pytest.mark.parametrize("depth", [22, 40, 63, 80])
@pytest.mark.parametrize("kind", [list, dict])
def test_what_holds_the_same_value_many_times_is_refused_before_all_of_it_is_walked(
    kind: type, depth: int
) -> None:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value, value] if kind is list else {"a": value, "b": value}
    with pytest.raises(Refusal, match="more than 1048576 parts"):
        check_value(value)


def test_a_wide_value_of_wide_values_is_refused_before_all_of_it_is_walked() -> None:
    wide: Any = [0] * 1_000_000
    check_value(wide)
    with pytest.raises(Refusal, match="more than 1048576 parts"):
        check_value([wide] * 1_000_000)


JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_every_value_that_is_written_is_read_again(value: JsonValue, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_json(text, MOST * 10) == parse_json(text.encode(), MOST * 10) == value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**64, -(10**400), "\ud800", {1: 2}, (1,), b"a", {"a": object()}]
)
def test_a_value_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(Refusal):
        check_value({"deep": [value]})


def test_a_value_that_somebody_else_parsed_may_not_be_deeper_either() -> None:
    value: list[object] = []
    for _ in range(DEEPEST - 1):
        value = [value]
    check_value(value)
    with pytest.raises(Refusal, match="64 levels"):
        check_value([value])


class Hostile:
    """Fails whatever is asked of it."""

    def _fails(self, *_: object) -> NoReturn:
        raise RuntimeError("asked what only a program's own kind of value can answer")

    strip = items = values = keys = get = lower = _fails
    __iter__ = __len__ = __getitem__ = __contains__ = __str__ = __lt__ = __le__ = __ge__ = _fails


class HostileText(Hostile, str):
    """Text that fails."""

    __slots__ = ()


class HostileList(Hostile, list[object]):
    """A list that fails."""


class HostileObject(Hostile, dict[str, object]):
    """An object that fails."""


class Choice(IntEnum):
    """A number with a name."""

    TWO = 2


def test_a_programs_own_kinds_of_values_count_as_what_they_hold() -> None:
    given = HostileObject({HostileText("a"): HostileList([HostileText("b"), Choice.TWO, True, None, 0.5])})
    plain = plain_value(given)
    assert plain == {"a": ["b", 2, True, None, 0.5]}
    assert type(plain) is dict
    assert [type(part) for part in (*plain, *plain["a"])] == [str, str, int, bool, type(None), float]  # type: ignore[misc]


def test_what_is_no_json_is_refused_however_it_is_wrapped() -> None:
    for value in (HostileText("\ud800"), HostileList([object()]), HostileObject({"a": (1,)})):
        with pytest.raises(Refusal):
            plain_value([value])
