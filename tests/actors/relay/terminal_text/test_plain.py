"""What of a program's output is text, and what is only for terminals."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.terminal_text import Tail, render_tail

ESC = "\x1b"


def shown(raw: str, lines: int = 500) -> list[str]:
    return list(render_tail(raw, lines).lines)


class TestSequencesLeaveNothing:
    @pytest.mark.parametrize(
        "raw",
        [
            f"{ESC}[1;31mred{ESC}[0m",
            f"{ESC}[38;2;255;0;0mred{ESC}[m",
            f"{ESC}[4:3mred{ESC}[24m",
            f"{ESC}[38:2::255:0:0mred",
            "\x9b31mred\x9b0m",
            f"{ESC}[?25lred{ESC}[?25h",
            f"{ESC}[?2004h{ESC}[>4;1mred{ESC}[6n{ESC}[ q{ESC}[!p",
            f"{ESC}(Bred{ESC}=",
            f"{ESC}]0;a title\x07red",
            f"{ESC}]0;a title{ESC}\\red",
            f"{ESC}]8;id=1;https://example.org/{ESC}\\red{ESC}]8;;{ESC}\\",
            f"{ESC}]8;;https://example.org/\x07red{ESC}]8;;\x07",
            f"{ESC}]133;A\x07{ESC}]133;C\x07red{ESC}]133;D;0\x07",
            f"{ESC}P1$r0m{ESC}\\red",
            f"{ESC}_Gf=100;AAAA{ESC}\\red",
            f"{ESC}]0;given up\x18red",
            f"red{ESC}]0;cut at the end",
            f"red{ESC}[38;5",
            f"red{ESC}",
            "r\x00e\x01d\x07\x7f",
        ],
        ids=repr,
    )
    def test_only_its_text_is_left(self, raw: str) -> None:
        assert shown(raw) == ["red"]

    def test_a_string_that_nothing_ends_takes_no_more_than_its_line(self) -> None:
        assert shown(f"one{ESC}]0;title\ntwo{ESC}Pnoise\nthree") == ["one", "two", "three"]

    def test_a_sequence_given_up_in_the_middle_does_not_take_the_next_one_along(self) -> None:
        assert shown(f"{ESC}[3{ESC}[1mred{ESC}]0;t{ESC}[0m!") == ["red!"]

    def test_numbers_too_large_for_anybody_move_to_the_edge(self) -> None:
        (line,) = shown(f"{ESC}[999999999999999999999999C|")
        assert line == " " * 500 + "|"


class TestBeginsInTheMiddleOfASequence:
    @pytest.mark.parametrize(
        "raw",
        ["1;32mred", "[0mred", "[1;32mred", "38;5;196mred", ";32mred", "[2Kred", "[?25hred", "4;7Hred"],
    )
    def test_the_rest_of_a_command_is_dropped(self, raw: str) -> None:
        assert shown(raw) == ["red"]

    @pytest.mark.parametrize(
        "raw",
        [
            f"ample.org/page{ESC}\\red{ESC}]8;;{ESC}\\",
            "8;;https://example.org/\x07red",
            "]0;a title\x07red",
        ],
        ids=repr,
    )
    def test_the_rest_of_a_string_is_dropped(self, raw: str) -> None:
        assert shown(raw) == ["red"]

    @pytest.mark.parametrize(
        "raw",
        [
            "10ms for all",
            "[INFO] ready",
            "[K8s] ready",
            "3; then 4",
            "[1] 4711",
            "2 of 3",
            "1:2 m",
            "Done\x07",
        ],
    )
    def test_text_that_only_looks_like_one_stays(self, raw: str) -> None:
        assert shown(raw) == [raw.rstrip("\x07")]

    def test_of_what_is_known_to_be_cut_the_first_piece_of_a_line_is_left_out(self) -> None:
        assert render_tail("2Kiece of a line\none\ntwo\n", 5, cut=True) == Tail(
            ("one", "two"), truncated=True
        )

    def test_it_stays_when_there_is_no_other(self) -> None:
        assert render_tail("50%\r60%", 5, cut=True) == Tail(("60%",), truncated=True)
        assert render_tail("only\n", 5, cut=True) == Tail(("only",), truncated=True)


class TestLines:
    def test_a_line_repeated_in_a_row_stands_there_once_with_its_count(self) -> None:
        assert shown("wait\n" * 3 + "go\n" + "wait\n") == ["wait [×3]", "go", "wait"]

    def test_lines_are_the_same_when_they_look_the_same(self) -> None:
        assert shown(f"wait\n{ESC}[1mwait{ESC}[0m  \n10%\rwait") == ["wait [×3]"]

    def test_blank_lines_in_a_row_become_one(self) -> None:
        assert shown("one\n\n\n  \n\ntwo") == ["one", "", "two"]

    def test_blank_lines_at_the_end_are_dropped(self) -> None:
        assert render_tail("one\n\n \n\t\n", 1) == Tail(("one",), truncated=False)

    def test_the_last_ones_are_given_and_what_was_left_out_is_told(self) -> None:
        assert render_tail("one\ntwo\nthree\n", 2) == Tail(("two", "three"), truncated=True)
        assert render_tail("one\ntwo\nthree\n", 3) == Tail(("one", "two", "three"), truncated=False)

    def test_repeated_lines_count_as_one(self) -> None:
        assert render_tail("one\n" + "two\n" * 100 + "three", 3) == Tail(
            ("one", "two [×100]", "three"), truncated=False
        )

    @pytest.mark.parametrize("raw", ["", "\n\n", f"{ESC}[0m", " \t\r\n"])
    def test_nothing_gives_no_lines(self, raw: str) -> None:
        assert render_tail(raw, 10) == Tail((), truncated=False)


class TestCharacters:
    def test_other_scripts_and_emoji_stay_as_they_are(self) -> None:
        text = "Grüße, 漢字, हिन्दी, 한국어, עברית, e\u0301, 👩\u200d💻, ✔️, \U0001f1e9\U0001f1ea"
        assert shown(text) == [text]

    def test_a_character_that_this_python_does_not_know_yet_stays(self) -> None:
        assert shown("\U0001fae9|") == ["\U0001fae9|"]

    def test_invisible_and_direction_characters_are_dropped(self) -> None:
        hidden = "\u202e\u2066\u200b\ufeff\u00ad\U000e0041\U000e0100\x85\x90"
        assert shown(f"a{hidden}b") == ["ab"]

    def test_what_would_break_lines_elsewhere_is_a_space(self) -> None:
        assert shown("a\u2028b\u2029c") == ["a b c"]

    def test_a_lone_surrogate_is_replaced(self) -> None:
        assert shown("a\ud800b") == ["a\ufffdb"]

    def test_piled_up_marks_are_thinned_out(self) -> None:
        (line,) = shown("a" + "\u0301" * 60_000 + "b")
        assert (line[0], line[-1]) == ("a", "b")
        assert len(line) < 20

    def test_a_mark_without_a_character_is_dropped(self) -> None:
        assert shown("\u0301a\r\u0301b") == ["b"]


PIECES = st.sampled_from(
    [
        "a",
        "漢",
        "e\u0301",
        "\u202e",
        "\ud800",
        "\n",
        "\r",
        "\t",
        "\b",
        ESC,
        f"{ESC}[",
        f"{ESC}]0;",
        "\x07",
        "\x9b",
    ]
    + [
        f"{ESC}7",
        f"{ESC}8",
        f"{ESC}[?1049h",
        f"{ESC}[?1049l",
        f"{ESC}\\",
        f"{ESC}c",
        f"{ESC}M",
        ";",
        "?",
        " ",
    ]
    + [f"{ESC}[{count}{what}" for count in ("", "2", "1;3", "9999999") for what in "ABCDEFGHJKLMPXb@dsu`"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join), st.integers(1, 5), st.booleans())
def test_whatever_comes_plain_lines_come_out(raw: str, lines: int, cut: bool) -> None:
    tail = render_tail(raw, lines, cut=cut)

    assert len(tail.lines) <= lines
    for line in tail.lines:
        assert line == line.rstrip()
        assert len(line.splitlines()) <= 1
        assert not {unicodedata.category(each) for each in line} & {"Cc", "Cs", "Zl", "Zp"}
    assert not tail.lines or tail.lines[-1]


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters="[]"), min_size=1))
def test_plain_text_comes_out_as_it_went_in(text: str) -> None:
    assert shown("> " + text) == [("> " + text).rstrip()]
