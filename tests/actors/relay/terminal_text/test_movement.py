"""Cursor movement and erasing leave on a line what they leave on a terminal."""

import pytest

from showcaller.actors.relay.terminal_text import render_tail

ESC = "\x1b"
UP, EL, CLEAR = f"{ESC}[A", f"{ESC}[K", f"{ESC}[2K"


def shown(raw: str) -> list[str]:
    return list(render_tail(raw, 500).lines)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("abc\rX", "Xbc"),
        ("abc\bX", "abX"),
        ("a\b\b\bX", "X"),
        ("a\tb\t\tc", "a       b               c"),
        ("a\r\tb", "a       b"),
        (f"abc{ESC}[2DX", "aXc"),
        (f"a{ESC}[3CX", "a   X"),
        (f"abcdef{ESC}[3GX", "abXdef"),
        (f"abc{ESC}[GX", "Xbc"),
        (f"abc{ESC}[0GX", "Xbc"),
        (f"abc{ESC}[2`X", "aXc"),
        (f"abc\r{EL}X", "X"),
        (f"abc\r{ESC}[C{ESC}[0K", "a"),
        (f"abcdef{ESC}[4D{ESC}[1KX", "  Xdef"),
        (f"abc{CLEAR}X", "   X"),
        (f"abcdef\r{ESC}[2XX", "X cdef"),
        (f"abcdef\r{ESC}[2PX", "Xdef"),
        (f"abc\r{ESC}[2@X", "X abc"),
        (f"a{ESC}[3bX", "aaaaX"),
        (f"{ESC}7abc{ESC}8X", "Xbc"),
        (f"a{ESC}[sbc{ESC}[uX", "aXc"),
        (f"abc{ESC}[99DX", "Xbc"),
    ],
    ids=repr,
)
def test_within_a_line(raw: str, line: str) -> None:
    assert shown(raw) == [line]


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (f"one\ntwo{UP}X", ["oneX", "two"]),
        (f"one\ntwo{UP}\rX\nY", ["Xne", "Ywo"]),
        (f"one\ntwo\n{ESC}[2FX", ["Xne", "two"]),
        (f"one\ntwo{ESC}[9A{ESC}[EX", ["one", "Xwo"]),
        (f"one\ntwo{ESC}[A{ESC}[BX", ["one", "twoX"]),
        (f"one\ntwo{ESC}M\rX", ["Xne", "two"]),
        (f"one{ESC}Etwo{ESC}[A{ESC}DX", ["one", "twoX"]),
        (f"one\ntwo\n{ESC}[2A{ESC}[JX", ["X"]),
        (f"one\ntwo\nthree{UP}\r{ESC}[J", ["one"]),
        (f"one\ntwo\nthree{UP}{ESC}[1J", ["", "three"]),
        (f"one\ntwo\n{ESC}[2;2HX", ["one", "tXo"]),
        (f"one\ntwo\n{ESC}[HX", ["Xne", "two"]),
        (f"one\ntwo\n{ESC}[1dX", ["Xne", "two"]),
        (f"one\ntwo{ESC}[A{ESC}[LX", ["X", "one", "two"]),
        (f"one\ntwo\nthree\n{ESC}[3A{ESC}[2M", ["three"]),
        (f"one\n{ESC}7two\nthree{ESC}8X", ["one", "Xwo", "three"]),
        (f"one{ESC}[3;2HX", ["one", "", " X"]),
    ],
    ids=repr,
)
def test_between_lines(raw: str, lines: list[str]) -> None:
    assert shown(raw) == lines


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("漢字\rab", "ab字"),
        ("漢字\rX", "X 字"),
        (f"漢字{ESC}[3GX", "漢X"),
        (f"漢字{ESC}[2GX", " X字"),
        (f"漢字{ESC}[2G{EL}", ""),
        (f"漢字{ESC}[4G{EL}X", "漢 X"),
        (f"漢字{ESC}[D{ESC}[DX", "漢X"),
        ("abcd\r漢", "漢cd"),
        ("e\u0301x\ry", "yx"),
        ("漢\u0301|", "漢\u0301|"),
        (f"漢字\r{ESC}[P", " 字"),
    ],
    ids=repr,
)
def test_wide_characters_take_two_columns(raw: str, line: str) -> None:
    assert shown(raw) == ([line] if line else [])


class TestClearing:
    @pytest.mark.parametrize(
        "clearing",
        [f"{ESC}[H{ESC}[2J", f"{ESC}[2J{ESC}[H", f"{ESC}[H{ESC}[J", f"{ESC}[2J{ESC}[3J{ESC}[H", f"{ESC}c"],
        ids=repr,
    )
    def test_of_what_clears_the_screen_again_and_again_the_last_picture_is_left(self, clearing: str) -> None:
        pictures = [f"{clearing}pass {number}\n" + "detail\n" * (number % 3) for number in range(9)]
        assert shown("".join(pictures)) == ["pass 8", "detail [×2]"]

    def test_what_had_scrolled_out_of_the_screen_stays(self) -> None:
        log = "".join(f"line {number}\n" for number in range(200))
        lines = shown(f"{log}{ESC}[H{ESC}[2Jnew")
        assert (lines[0], lines[-1]) == ("line 0", "new")
        assert 100 < len(lines) < 200

    def test_it_goes_when_the_program_asks_for_that_as_well(self) -> None:
        log = "".join(f"line {number}\n" for number in range(200))
        assert shown(f"{log}{ESC}[H{ESC}[2J{ESC}[3Jnew") == ["new"]

    def test_nobody_goes_up_beyond_a_cleared_screen(self) -> None:
        log = "".join(f"line {number}\n" for number in range(60))
        assert shown(f"{log}{ESC}[H{ESC}[2Jnew{ESC}[99A\rN")[-1] == "New"


class TestAlternateScreen:
    @pytest.mark.parametrize("mode", ["47", "1047", "1049", "25;1049"])
    def test_what_was_drawn_there_is_dropped(self, mode: str) -> None:
        editor = f"{ESC}[?{mode}h{ESC}[2J{ESC}[H~\n~\n{ESC}[5;9Htext漢{ESC}[?{mode}l"
        assert shown(f"before\n{editor}after") == ["before", "after"]

    def test_what_is_being_drawn_there_is_not_shown(self) -> None:
        assert shown(f"before\n{ESC}[?1049h{ESC}[Hmenu{ESC}[K{ESC}[J{ESC}[3X") == ["before"]

    def test_who_comes_back_without_having_gone_was_there_before(self) -> None:
        assert shown(f"{ESC}[3;1Hmenu{ESC}[4;1Hentry{ESC}[?1049lafter") == ["after"]

    def test_but_who_has_only_written_lines_was_not(self) -> None:
        assert shown(f"{ESC}[H{ESC}[2Jone\ntwo\n{ESC}[?1049lthree") == ["one", "two", "three"]
