"""Text from outside on a terminal."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.transport.doors.cli.visible import fit, json_safe, readable, visible, width_of

HOSTILE = [
    ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("a\nb\r\tc\0", "a\\nb\\r\\tc\\0"),
    ("\x9b2J", "\\x9b2J"),
    ("\x7f", "\\x7f"),
    ("abc\u202egnp.exe", "abc\\u202egnp.exe"),
    ("\u2066x\u2069", "\\u2066x\\u2069"),
    ("\udcff", "\\udcff"),
    ("\U000e0041", "\\U000e0041"),
]
anything = st.text(st.characters(codec=None, categories=None)) | st.text(
    st.sampled_from("\x1b\n\r\x9b\u202eaß漢")
)


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_what_steers_a_terminal_shows_as_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["naïve café", "漢字", "👩‍👩‍👧", "C:\\dir", "tab-less 'quoted'"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_readable_text_keeps_lines_and_tabs_and_nothing_else() -> None:
    assert readable("a\r\nb\tc\rd\x1b[K") == "a\nb\tc\\rd\\x1b[K"


@given(anything)
def test_no_control_character_is_left_in_visible_text(text: str) -> None:
    assert not [character for character in visible(text) if unicodedata.category(character) in ("Cc", "Cs")]


@given(anything)
def test_safe_json_means_the_same_and_holds_no_control_character(text: str) -> None:
    safe = json_safe(json.dumps({"text": text}, ensure_ascii=False))
    assert json.loads(safe) == {"text": text}
    assert visible(safe) == safe
    safe.encode()


@given(anything, st.integers(0, 30), st.sampled_from(["end", "middle"]))
def test_fitted_text_is_never_wider_than_asked(text: str, width: int, cut: str) -> None:
    shown = visible(text)
    assert width_of(fit(shown, width, "middle" if cut == "middle" else "end")) <= width


def test_a_path_keeps_its_end_when_it_is_cut_in_the_middle() -> None:
    assert fit("actors/contract/fanout/template.py", 20, "middle") == "actors/…/template.py"


def test_text_that_fits_is_not_cut() -> None:
    assert fit("12345", 5) == "12345"
    assert fit("123456", 5) == "1234…"
    assert fit("漢字漢字", 5) == "漢字…"
