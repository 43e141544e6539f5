"""Frames from a process of functions: whole whatever way they come, and refused when they are none."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.worker.function_child_messages import (
    FRAME_LIMIT,
    CallEnded,
    CallOutput,
    Frames,
    FromChild,
    GarbageError,
    to_frame,
)

ENDED = {"kind": "ended", "call": 1, "reply": "r", "truncated": False, "error": None}
TEXTS = st.text(st.characters(codec="utf-8"))
OUTPUTS = st.builds(
    lambda call, text: {"kind": "output", "call": call, "text": text}, st.integers(0, 9), TEXTS
)


def heard(frames: Frames, data: bytes) -> Sequence[FromChild]:
    return [message for batch in frames.feed(data) for message in batch]


@given(st.lists(st.lists(OUTPUTS, max_size=3), max_size=4), st.integers(1, 40))
def test_frames_come_whole_whatever_pieces_they_are_cut_into(
    batches: list[list[dict[str, object]]], size: int
) -> None:
    frames, data = Frames(), b"".join(map(to_frame, batches))
    came = [each for at in range(0, len(data), size) for each in heard(frames, data[at : at + size])]
    assert [message.model_dump() for message in came] == [each for batch in batches for each in batch]


def test_messages_are_typed() -> None:
    output = {"kind": "output", "call": 0, "text": "t"}
    assert heard(Frames(), to_frame([ENDED, output])) == [
        CallEnded(kind="ended", call=1, reply="r", truncated=False, error=None),
        CallOutput(kind="output", call=0, text="t"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"kind": "other"},
        {**ENDED, "call": -1},
        {**ENDED, "call": "1"},
        {**ENDED, "reply": None},
        {**ENDED, "reply": "x" * 1_100_000},
        {**ENDED, "error": "x" * 10_000},
        {**ENDED, "more": 1},
        {key: value for key, value in ENDED.items() if key != "error"},
    ],
)
def test_a_message_that_is_none_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(GarbageError):
        heard(Frames(), to_frame([message]))


def test_a_frame_that_is_too_long_is_refused_before_it_has_come() -> None:
    frames = Frames()
    assert heard(frames, FRAME_LIMIT.to_bytes(4, "big")) == []
    with pytest.raises(GarbageError, match="a frame of"):
        heard(Frames(), (FRAME_LIMIT + 1).to_bytes(4, "big"))


def test_what_goes_to_the_process_is_ascii_so_that_any_text_passes() -> None:
    frame = to_frame([{"text": "ü\ud800"}])
    assert json.loads(frame[4:].decode("ascii")) == [{"text": "ü\ud800"}]
