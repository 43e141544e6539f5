import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.fanout import Item, check_item, compact_json, read_items_jsonl, text_items
from showcaller.actors.contract.fanout.items import ITEM_BYTES


@pytest.mark.parametrize(
    ("item", "reason", "shown"),
    [
        ("a\0b", "NUL", r'Item 3, "a\u0000b",'),
        ("caf\udce9", "not valid UTF-8 from character 4", r'Item 3, "caf\udce9",'),
        ("a" * (ITEM_BYTES + 1), "bytes", 'Item 3, "aaa'),
        ("é" * (ITEM_BYTES // 2 + 1), "bytes", 'Item 3, "ééé'),
    ],
)
def test_an_item_that_no_command_can_carry_is_refused_and_shown(item: str, reason: str, shown: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_item(item, 3)
    assert refused.value.error.startswith(shown)
    assert reason in refused.value.error
    assert len(refused.value.error) < 400


@pytest.mark.parametrize("item", ["", "'", "$(id)", "a\nb", "-rf", "\u202e", "a" * ITEM_BYTES])
def test_an_item_that_only_looks_dangerous_is_taken(item: str) -> None:
    assert list(text_items([item])) == [Item(1, item, item)]


def test_json_lines_give_strings_as_they_are_and_other_values_as_compact_json() -> None:
    lines: list[str | bytes] = [
        '"a b"\n',
        "\n",
        b'  {"x": [1, 2.5, null],  "y": "\xc3\xa9"}\n',
        "7",
        " \t\n",
        "null",
    ]
    assert list(read_items_jsonl(lines)) == [
        Item(1, "a b", "a b"),
        Item(2, {"x": [1, 2.5, None], "y": "é"}, '{"x":[1,2.5,null],"y":"é"}'),
        Item(3, 7, "7"),
        Item(4, None, "null"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "a",
        '"a" "b"',
        b"\xff",
        '{"a":1,"a":2}',
        "NaN",
        "1e999",
        "18446744073709551616",
        '"\\u0000"',
        '"\\ud800"',
    ],
)
def test_a_bad_line_is_refused_with_its_number(line: str | bytes) -> None:
    with pytest.raises(Refusal, match=r"^Line 3: ") as refused:
        list(read_items_jsonl(['"first"', "", line]))
    assert refused.value.to_result()["line"] == 3


JSON_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(JSON_VALUES, max_size=5))
def test_every_json_value_that_is_written_as_a_line_is_read_again(values: list[JsonValue]) -> None:
    assert [item.value for item in read_items_jsonl(map(compact_json, values))] == values
