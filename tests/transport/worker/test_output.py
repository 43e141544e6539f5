"""Output and text within bounds, whatever the chunks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showcaller.transport.worker.output import CommandOutput
from showcaller.transport.worker.text import BothEnds, bounded, valid


@given(st.lists(st.binary(max_size=12), max_size=30), st.integers(0, 20), st.integers(1, 20))
def test_both_ends_are_kept_and_the_rest_is_counted(pieces: list[bytes], head: int, tail: int) -> None:
    ends = BothEnds(b"".join, head, tail)
    for piece in pieces:
        ends.add(piece)
    whole = b"".join(pieces)
    first, left_out, last = ends.parts()
    assert first == whole[:head]
    assert left_out == max(0, len(whole) - head - tail)
    assert first + last == whole if not left_out else last == whole[-tail:]


def test_many_small_pieces_are_few_objects() -> None:
    ends = BothEnds(b"".join, 0, 100_000)
    for _ in range(300_000):
        ends.add(b"x")
    assert len(ends._tail) < 30
    assert ends.parts() == (b"", 200_000, b"x" * 100_000)


@given(st.text(), st.lists(st.integers(1, 5), min_size=1))
def test_characters_across_chunk_borders_stream_and_reply_whole(text: str, sizes: list[int]) -> None:
    streamed: list[str] = []
    output = CommandOutput(streamed.append)
    data = text.encode()
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        output.add(data[at : at + size])
        at, turn = at + size, turn + 1
    output.add(b"")
    assert "".join(streamed) == text
    assert output.reply() == (text, False)


@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_reply_as_a_decoder_with_replacement_reads_them(data: bytes, size: int) -> None:
    streamed: list[str] = []
    output = CommandOutput(streamed.append)
    for at in range(0, len(data), size):
        output.add(data[at : at + size])
    output.add(b"")
    assert "".join(streamed) == data.decode("utf-8", "replace") == output.reply()[0]


@pytest.mark.parametrize("head", range(1, 9))
@pytest.mark.parametrize("tail", range(1, 9))
def test_the_gap_cuts_no_character_in_two(head: int, tail: int) -> None:
    output = CommandOutput(lambda text: None, head, tail)
    output.add("漢ü漢ü漢ü漢".encode())
    reply, truncated = output.reply()
    assert truncated
    assert "\ufffd" not in reply
    first, _, rest = reply.partition("\n[… ")
    left_out, _, last = rest.partition(" bytes left out …]\n")
    assert len(first.encode()) + int(left_out) + len(last.encode()) == len("漢ü漢ü漢ü漢".encode())


def test_a_long_text_is_cut_in_the_middle() -> None:
    assert bounded("abcdefgh", 2, 3) == ("ab\n[… 3 characters left out …]\nfgh", True)
    assert bounded("abcde", 2, 3) == ("abcde", False)


@given(st.text(st.characters(exclude_categories=[])))
@example("a\ud800")
def test_lone_surrogates_become_what_every_border_takes(text: str) -> None:
    made = valid(text)
    assert made.encode().decode() == made
    if max(text, default="") < "\ud800":
        assert made == text


@given(st.lists(st.text("sct_x", max_size=12)), st.integers(1, 7))
def test_a_secret_is_in_no_output_however_it_is_cut(parts: list[str], size: int) -> None:
    secret = "sct_s"
    written = "sct_s".join(parts)
    streamed: list[str] = []
    output = CommandOutput(streamed.append, secret=secret)
    for at in range(0, len(written), size):
        output.add(written[at : at + size].encode())
    output.add(b"")
    assert "".join(streamed) == written.replace(secret, "[a token of the relay]") == output.reply()[0]
