"""Time and memory stay in proportion to the length of the output, whatever is in it."""

import tracemalloc
from time import process_time

import pytest

from showcaller.actors.relay.terminal_text import render_tail
from showcaller.actors.relay.terminal_text.screen import HEIGHT, WIDTH, Screen
from showcaller.actors.relay.terminal_text.sequences import play

ESC = "\x1b"
SIZE = 32 * 1024
HOSTILE = [
    f"{ESC}[999999999Cx\n",
    f"{ESC}[999999999Bx\n",
    f"{ESC}[999999999;999999999Hx",
    f"x{ESC}[A",
    f"{ESC}[A{ESC}[999Cx",
    f"\rx{ESC}[999999999b\n",
    f"{ESC}[2K{ESC}8x",
    f"{ESC}[1K",
    f"{ESC}[1J",
    f"{ESC}[2Jx",
    f"{ESC}[3J\n",
    f"{ESC}[999999999@x",
    f"{ESC}[P",
    f"{ESC}[999999999Lx",
    f"{ESC}[M",
    f"{ESC}[50;500Hx{ESC}[H{ESC}[L",
    f"{ESC}[?1049h{ESC}[?1049l",
    f"{ESC}[",
    f"{ESC}]",
    f"{ESC}P",
    "\x9b",
    ESC,
    "1;",
    "8;;",
    "\u0301",
    f"漢{ESC}[D",
    "\t",
]


def cells(screen: Screen) -> int:
    return sum(map(len, screen.rows))


@pytest.mark.parametrize(
    "first", ["", "y" * (SIZE // 2) + f"{ESC}7", "y\n" * (SIZE // 4) + f"{ESC}7"], ids=len
)
@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_no_sequence_makes_more_than_a_screens_width_and_height(piece: str, first: str) -> None:
    screen = Screen()
    times = (SIZE - len(first)) // len(piece)
    play(screen, first)
    before = cells(screen), len(screen.rows)
    began = process_time()
    play(screen, piece * times)
    took = process_time() - began

    assert cells(screen) <= before[0] + (WIDTH + 1) * times
    assert len(screen.rows) <= before[1] + times + HEIGHT
    assert took < 1, "it takes hundredths of a second unless it takes the square of the length"


def test_a_number_of_many_digits_or_many_numbers_are_read_as_one_sequence() -> None:
    assert render_tail(f"{ESC}[{'9' * SIZE}Ga", 1).lines == (" " * WIDTH + "a",)
    assert render_tail(f"{ESC}[{'1;' * (SIZE // 2)}ma", 1).lines == ("a",)
    assert render_tail(f"{ESC}[{'0' * SIZE}2Ga", 1).lines == (" a",)


def test_a_far_movement_alone_allocates_nothing() -> None:
    raw = f"a{ESC}[999999999B{ESC}[999999999C"
    tracemalloc.start()
    try:
        assert render_tail(raw, 1).lines == ("a",)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000
