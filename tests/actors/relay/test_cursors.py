"""Cursors: what was written is read back, and nothing else is taken for one."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.relay.cursors import read_cursor, write_cursor

NUMBERS = st.integers(-(2**63), 2**63 - 1)


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()


ASCII = st.text(st.characters(max_codepoint=127), max_size=20)


@given(at=NUMBERS, session=ASCII)
def test_a_place_comes_back_as_it_was(at: int, session: str) -> None:
    assert read_cursor("sessions", write_cursor("sessions", [at, session]), (int, str)) == [at, session]


@given(text=st.text(max_size=80) | st.binary(max_size=60).map(encoded))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="start again without it"):
        read_cursor("sessions", text, (int, str))


@pytest.mark.parametrize(
    "place",
    [
        ["messages", 1, "ses_1"],
        ["sessions", 1],
        ["sessions", "1", "ses_1"],
        ["sessions", True, "ses_1"],
        ["sessions", 1.0, "ses_1"],
        ["sessions", 2**63, "ses_1"],
        ["sessions", 1, "\ud800"],
        ["sessions", 1, "ses_1", None],
        {"sessions": 1},
        "sessions",
        7,
    ],
)
def test_a_forged_place_is_refused(place: Any) -> None:
    forged = encoded(json.dumps(place).encode())
    with pytest.raises(Refusal, match="start again without it"):
        read_cursor("sessions", forged, (int, str))


def test_a_cursor_of_messages_fits_the_argument_that_takes_it() -> None:
    assert len(write_cursor("messages", ["ses_000000000000", 10**15])) <= 64
