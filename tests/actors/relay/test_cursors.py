"""Cursors: what was written is read back for the list that it is of, and nothing else is taken for one."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.relay.cursors import PagedList

NUMBERS = st.integers(-(2**63), 2**63 - 1)
SESSIONS = PagedList("rly_1", "sessions", ("recent", ""), (int, str))
ASCII = st.text(st.characters(max_codepoint=127), max_size=20)


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()


def refused(text: str, paged: PagedList = SESSIONS) -> None:
    with pytest.raises(Refusal, match="start again without it"):
        paged.read(text)


@given(at=NUMBERS, session=ASCII)
def test_a_place_comes_back_as_it_was(at: int, session: str) -> None:
    assert SESSIONS.read(SESSIONS.write([at, session])) == [at, session]


@given(text=st.text(max_size=80) | st.binary(max_size=60).map(encoded))
def test_any_other_text_is_refused(text: str) -> None:
    refused(text)


@pytest.mark.parametrize(
    "other",
    [
        PagedList("rly_2", "sessions", ("recent", ""), (int, str)),
        PagedList("rly_1", "messages", ("recent", ""), (int, str)),
        PagedList("rly_1", "sessions", ("all", ""), (int, str)),
        PagedList("rly_1", "sessions", ("recent", "t1"), (int, str)),
        PagedList("rly_1", "sessions", ("recent",), (int, str)),
    ],
)
def test_a_cursor_of_another_relay_list_scope_or_query_is_refused(other: PagedList) -> None:
    refused(other.write([1, "ses_1"]))


def test_a_cursor_is_taken_only_as_it_was_given() -> None:
    given = SESSIONS.write([1, "ses_1"])
    for changed in (given + "=", given + "A", given[:-1], given[1:], f" {given}", given.swapcase()):
        refused(changed)


@pytest.mark.parametrize(
    "place",
    [
        ["sessions", 1, "zz"],
        [1, "zz"],
        [1],
        ["1", "ses_1"],
        [True, "ses_1"],
        [1.0, "ses_1"],
        [2**63, "ses_1"],
        [1, "\ud800"],
        [1, "ses_1", None],
        {"sessions": 1},
        "sessions",
        7,
    ],
)
def test_a_forged_place_is_refused(place: Any) -> None:
    raw = json.dumps(place).encode()
    for forged in (encoded(raw), encoded(raw).rstrip("="), encoded(bytes(8) + raw).rstrip("=")):
        refused(forged)


@pytest.mark.parametrize("place", [["1", "ses_1"], [True, "ses_1"], [2**63, "ses_1"], [1, "é"], [1]])
def test_a_place_that_no_store_can_look_for_is_refused_though_it_was_signed(place: list[Any]) -> None:
    refused(SESSIONS.write(place))


def test_a_cursor_of_messages_fits_the_argument_that_takes_it() -> None:
    messages = PagedList("rly_000000000000", "messages", ("ses_000000000000",), (int,))
    assert len(messages.write([2**63 - 1])) <= 64
