"""The words for a session's state."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.doors.cli.states import end_word, state_word, word_colour

sessions = st.fixed_dictionaries(
    {"state": st.sampled_from(["running_turn", "background_only", "idle"])},
    optional={
        "waiting": st.sampled_from(["approval", "permission", "question", "limit"]),
        "queued": st.integers(0, 3),
        "lastTurn": st.sampled_from(["done", "failed", "stopped", "interrupted"]),
    },
)


@pytest.mark.parametrize(
    ("session", "word"),
    [
        ({"state": "running_turn"}, "working"),
        ({"state": "background_only", "lastTurn": "done"}, "background"),
        ({"state": "running_turn", "waiting": "permission"}, "waiting for you"),
        ({"state": "idle", "waiting": "question"}, "waiting for you"),
        ({"state": "running_turn", "waiting": "limit"}, "paused by a limit"),
        ({"state": "idle", "queued": 2, "lastTurn": "failed"}, "queued"),
        ({"state": "idle", "lastTurn": "failed"}, "idle · failed"),
        ({"state": "idle", "lastTurn": "interrupted"}, "idle · interrupted"),
        ({"state": "idle", "lastTurn": "done"}, "idle · done"),
        ({"state": "idle"}, "idle"),
        ({"state": "idle", "lastTurn": "failed", "archived": True}, "archived · failed"),
        ({"state": "idle", "archived": True}, "archived"),
    ],
)
def test_a_state_has_one_word(session: dict[str, Any], word: str) -> None:
    assert state_word(session) == word


@pytest.mark.parametrize(
    ("word", "colour"),
    [("idle · failed", "red"), ("idle · done", "green"), ("failed", "red"), ("idle", None)],
)
def test_an_idle_session_has_the_colour_of_its_last_turn(word: str, colour: str | None) -> None:
    assert word_colour(word) == colour


@pytest.mark.parametrize(
    ("ended", "word"),
    [
        ({"status": "done", "stopReason": "end"}, "done"),
        ({"status": "failed", "stopReason": "end"}, "failed"),
        ({"status": "failed", "stopReason": "interrupted"}, "interrupted"),
        ({"status": "waiting_for_answer"}, "waiting for you"),
        ({"status": "cancelled"}, "withdrawn"),
        ({"status": "queued"}, "queued"),
    ],
)
def test_the_end_of_a_prompt_has_one_word(ended: dict[str, Any], word: str) -> None:
    assert end_word(ended) == word


@given(sessions)
def test_what_waits_is_never_shown_as_working(session: dict[str, Any]) -> None:
    if session.get("waiting"):
        assert state_word(session) in ("waiting for you", "paused by a limit")
