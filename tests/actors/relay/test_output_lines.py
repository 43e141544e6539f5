"""Output is read line by line after a cursor, from a running turn and from its stored reply alike."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.limits import OUTPUT_LINE_CHARACTERS
from showcaller.actors.relay.messages import OutputGlance
from showcaller.actors.relay.output_lines import Place, last_page, lines_from, page_of, read_place

TURNS = [f"msg_{number:012}" for number in range(4)]
texts = st.text(st.sampled_from("ab\n\r"), max_size=12)


def reply(number: int, text: str) -> dict[str, Any]:
    """A stored reply."""
    return {"position": number * 2 + 2, "reply_to": TURNS[number], "text": text, "truncated": 0}


def lines_of(texts: list[str]) -> list[str]:
    """All lines, as one who has the whole output splits it."""
    found: list[str] = []
    for text in texts:
        parts = text.split("\n")
        found += [part.removesuffix("\r") for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    return found


@given(st.lists(texts, max_size=4), st.integers(1, 3), st.data())
def test_from_cursor_to_cursor_every_line_is_read_once_while_turns_run_and_end(
    written: list[str], limit: int, data: st.DataObject
) -> None:
    stored: list[dict[str, Any]] = []
    place, seen = Place(), list[str]()

    def read(writing: OutputGlance | None) -> None:
        nonlocal place
        more = True
        while more:
            replies = [each for each in stored if each["position"] > place.position]
            page = page_of(place, replies, writing, limit)
            assert len(page.lines) <= limit
            assert not page.cut
            seen.extend(line.text for line in page.lines)
            place, more = read_place(str(page.place)), page.more

    for number, text in enumerate(written):
        for size in sorted(data.draw(st.sets(st.integers(0, len(text))))):
            kept = data.draw(st.integers(0, 3)) + 12
            read(OutputGlance(TURNS[number], text[:size][-kept:], size))
        stored.append(reply(number, text))
        if data.draw(st.booleans()):
            read(None)
    read(None)
    assert seen == lines_of(written)


def test_what_a_running_turn_wrote_before_what_is_kept_is_said_to_be_cut() -> None:
    page = page_of(Place(), [], OutputGlance(TURNS[0], "c\nd\n", 8), 10)
    assert ([line.text for line in page.lines], page.cut) == (["c", "d"], True)
    after = page_of(page.place, [], OutputGlance(TURNS[0], "d\ne\n", 10), 10)
    assert ([line.text for line in after.lines], after.cut) == (["e"], False)


def test_a_reply_that_is_not_what_was_written_meanwhile_is_told_whole() -> None:
    page = page_of(Place(), [], OutputGlance(TURNS[0], "working\n", 8), 10)
    whole = page_of(page.place, [reply(0, "the answer\nis 42")], None, 10)
    assert [line.text for line in whole.lines] == ["the answer", "is 42"]


def test_a_worker_that_tells_all_again_doubles_nothing() -> None:
    place = page_of(Place(), [], OutputGlance(TURNS[0], "a\nb\n", 4), 10).place
    assert page_of(place, [], OutputGlance(TURNS[0], "a\n", 2), 10).lines == []
    assert [line.text for line in page_of(place, [], OutputGlance(TURNS[0], "a\nb\nc\n", 6), 10).lines] == [
        "c"
    ]


def test_a_line_without_an_end_comes_with_the_end_of_its_turn() -> None:
    place = page_of(Place(), [], OutputGlance(TURNS[0], "a\nhal", 5), 10).place
    assert [line.text for line in page_of(place, [reply(0, "a\nhalf")], None, 10).lines] == ["half"]


def test_a_very_long_line_comes_in_pieces() -> None:
    text = "x" * (OUTPUT_LINE_CHARACTERS + 3)
    assert [len(line) for line, _ in lines_from(text, 0, whole=True)] == [OUTPUT_LINE_CHARACTERS, 3]
    assert [len(line) for line, _ in lines_from(text, 0, whole=False)] == [OUTPUT_LINE_CHARACTERS]


@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 5))
def test_the_last_lines_end_where_the_next_begin(written: list[str], limit: int) -> None:
    stored = [reply(number, text) for number, text in enumerate(written[:-1])]
    running = OutputGlance(TURNS[len(stored)], written[-1], len(written[-1]))
    page = last_page(stored, running, limit, stored[-1]["position"] if stored else 0)
    done = page_of(page.place, [reply(len(stored), written[-1])], None, 100)
    whole = lines_of(written)
    rest = [line.text for line in done.lines]
    told = whole[: len(whole) - len(rest)]
    assert rest == whole[len(told) :]
    assert [line.text for line in page.lines] == told[len(told) - min(limit, len(told)) :]


@pytest.mark.parametrize("text", ["", "x", "-1", "1.2", "1.msg_abc.1.a", "1" * 30, "1.msg_000000000000.1.zz"])
def test_a_cursor_that_was_not_given_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="is no cursor"):
        read_place(text)
