import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.ids import Prefix, group_start, is_id, names_session, new_id, session_start


@pytest.mark.parametrize("prefix", get_args(Prefix))
def test_a_new_id_is_its_prefix_and_twelve_characters(prefix: Prefix) -> None:
    made = new_id(prefix)
    assert made.startswith(prefix)
    assert len(made) == len(prefix) + 12
    assert set(made.removeprefix(prefix)) <= set("0123456789abcdefghijklmnopqrstuvwxyz")
    assert is_id(made, prefix)
    assert is_id(made)


def test_ids_repeat_only_when_their_randomness_does() -> None:
    assert new_id("ses_", random.Random(1).randrange) == new_id("ses_", random.Random(1).randrange)
    assert len({new_id("ses_") for _ in range(1000)}) == 1000


def test_every_character_can_stand_in_every_place() -> None:
    drawn = [new_id("q_", random.Random(seed).randrange).removeprefix("q_") for seed in range(800)]
    assert all(len({each[place] for each in drawn}) == 36 for place in range(12))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ses_",
        "ses_abc",
        "ses_abcdefghijk",
        "ses_abcdefghijklm",
        "ses_ABCDEFGHIJKL",
        "abcdefghijkl",
        "ses_abcdefghijk\n",
    ],
)
def test_what_only_resembles_an_id_is_none(text: str) -> None:
    assert not is_id(text)
    assert not is_id("ses_abcdefghijkl", "msg_")


@given(st.integers(6, 12), st.booleans())
def test_six_characters_or_more_name_a_session_with_or_without_its_prefix(length: int, whole: bool) -> None:
    text = "3f9c2a1e7b0d"[:length]
    assert names_session(f"ses_{text}" if whole else text, "ses_3f9c2a1e7b0d")
    assert not names_session(text, "ses_4f9c2a1e7b0d")


@pytest.mark.parametrize(
    "text", ["", "ses_", "3f9c2", "ses_3f9c2", "3f9c2a1e7b0d0", "3F9C2A1E", "ses_ses_3f9c2a", "%_%_%_"]
)
def test_what_can_name_no_session_has_no_start(text: str) -> None:
    assert session_start(text) is None


@pytest.mark.parametrize("text", ["grp_3f9c2a", "3f9c2a"])
def test_a_group_is_named_by_as_much_of_its_id_where_a_part_is_taken(text: str) -> None:
    assert group_start(text) == "grp_3f9c2a"
    assert group_start(text[:-1]) is None
    assert group_start(f"ses_{text}") is None
