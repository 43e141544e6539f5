"""Plain tables."""

from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.doors.cli.table import GAP, NARROWEST, Column, share, table_lines
from showcaller.transport.doors.cli.visible import width_of

COLUMNS = (Column("NAME", cut="middle"), Column("N", right=True), Column("TEXT", cut="end"))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [("a", "1", "first"), ("long name", "1000", "x")]
    assert list(table_lines(COLUMNS, rows, None, coloured=False)) == [
        "NAME          N  TEXT",
        "a             1  first",
        "long name  1000  x",
    ]


def test_a_narrow_terminal_cuts_only_the_columns_that_may_be_cut() -> None:
    rows = [("some/very/long/path/file.py", "123456", "a long reply that cannot be shown whole")]
    _, line = table_lines(COLUMNS, rows, 40, coloured=False)
    assert width_of(line) <= 40
    assert "123456" in line
    assert line.count("…") == 2


def test_colour_changes_no_alignment() -> None:
    columns = (Column("S", colour=lambda cell: "red" if cell == "failed" else None), Column("T"))
    rows = [("failed", "x"), ("ok", "y")]
    _, first, second = table_lines(columns, rows, None, coloured=True)
    assert first == "\x1b[31mfailed\x1b[0m  x"
    assert second == "ok      y"


@given(st.integers(0, 200), st.lists(st.integers(0, 100), max_size=5))
def test_shares_grant_small_wishes_and_never_exceed_them(space: int, wishes: list[int]) -> None:
    granted = share(space, wishes)
    assert all(given <= wish for given, wish in zip(granted, wishes, strict=True))
    assert all(given >= min(wish, NARROWEST) for given, wish in zip(granted, wishes, strict=True))
    if space >= NARROWEST * len(wishes):
        assert sum(granted) <= space
    if sum(wishes) <= space:
        assert granted == wishes


@given(
    st.lists(
        st.tuples(st.text("ab漢", max_size=40), st.text("12", max_size=5), st.text("xy…", max_size=60)),
        max_size=8,
    ),
    st.integers(60, 120),
)
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], width: int) -> None:
    assert GAP * 2 + 5 + NARROWEST * 2 < 60
    assert all(width_of(line) <= width for line in table_lines(COLUMNS, rows, width, coloured=False))
