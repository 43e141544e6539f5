"""What goes to the writer process arrives as it was, or is answered as faulty and harms nothing else."""

import socket
from threading import Thread
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from showcaller.store import frames
from showcaller.store.batch import Answer, Batch, Command

INTEGERS = st.integers(-(2**63), 2**64 - 1)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
COMMANDS = st.builds(Command, st.integers(0, 2**63), st.text(), st.dictionaries(st.text(), PLAIN, max_size=4))


@given(st.text(), st.integers(0, 2**63), st.lists(COMMANDS, max_size=4))
def test_a_batch_arrives_as_it_was(incarnation: str, number: int, commands: list[Command]) -> None:
    batch = Batch(incarnation, number, commands)
    assert frames.unpack_batch(frames.pack_batch(batch)) == batch


@given(st.lists(st.builds(Answer, INTEGERS, PLAIN, st.none() | st.text(), st.none() | st.text())))
def test_answers_arrive_as_they_were(answers: list[Answer]) -> None:
    assert frames.unpack_answers(frames.pack_answers(answers)) == answers


def test_text_that_is_no_unicode_arrives_as_it_was() -> None:
    batch = Batch("a", 1, [Command(1, "x", {"text": "a\ud800b"})])
    assert frames.unpack_batch(frames.pack_batch(batch)) == batch


def test_only_the_command_that_cannot_be_carried_is_replaced() -> None:
    good, bad = Command(1, "good", {"a": 1}), Command(2, "bad", {"a": 2**64})
    sent = frames.unpack_batch(frames.pack_batch(Batch("a", 1, [good, bad, good])))
    assert (sent.commands[0], sent.commands[2]) == (good, good)
    assert sent.commands[1].number == 2
    assert sent.commands[1].name.startswith("bad (cannot be sent")


def test_a_command_nested_without_end_is_replaced() -> None:
    endless: list[Any] = []
    endless.append(endless)
    sent = frames.unpack_batch(frames.pack_batch(Batch("a", 1, [Command(1, "bad", {"a": endless})])))
    assert "cannot be sent" in sent.commands[0].name


def test_a_frame_larger_than_any_buffer_arrives_whole() -> None:
    frame = bytes(range(256)) * 40_000
    here, there = socket.socketpair()
    with here, there:
        sending = Thread(target=frames.send_frame, args=(here, frame))
        sending.start()
        assert frames.receive_frame(there) == frame
        sending.join()


def test_a_frame_that_was_cut_off_is_no_frame() -> None:
    here, there = socket.socketpair()
    with there:
        with here:
            here.sendall((100).to_bytes(8, "big") + b"half")
        assert frames.receive_frame(there) is None
        assert frames.receive_frame(there) is None
