import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.foreign_text import LONGEST, quote_foreign


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("Review: server/", '"Review: server/"'),
        ('say "hi"', r'"say \"hi\""'),
        ("a\\n", r'"a\\n"'),
        ("a\nb\r\tc", r'"a\nb\r\tc"'),
        ("\x1b[31m\x00\x9b", r'"\u001b[31m\u0000\u009b"'),
        ("\u202eevil\u2066", r'"\u202eevil\u2066"'),
        ("a\u2028b\u2029", r'"a\u2028b\u2029"'),
        ("\ufeff\u200b\U000e0041", r'"\ufeff\u200b\U000e0041"'),
        ("caf\udce9", r'"caf\udce9"'),
        ("👩\u200d💻 é 日本", '"👩\u200d💻 é 日本"'),
    ],
)
def test_control_and_direction_characters_are_escaped_in_double_quotes(text: str, quoted: str) -> None:
    assert quote_foreign(text) == quoted


@given(st.text(st.characters(), max_size=400), st.integers(3, 300))
def test_any_text_is_one_quoted_line_within_its_length(text: str, longest: int) -> None:
    quoted = quote_foreign(text, longest)
    assert len(quoted) <= longest
    assert quoted.splitlines() == [quoted]
    assert quoted[0] == quoted[-1] == '"'
    assert '"' not in quoted[1:-1].replace("\\\\", "").replace('\\"', "")
    assert {unicodedata.category(each) for each in quoted if each not in "\u200c\u200d"} & {
        "Cc",
        "Cf",
        "Cs",
    } == set()


def test_what_does_not_fit_ends_in_an_ellipsis_and_never_within_an_escape() -> None:
    assert quote_foreign("a" * (LONGEST - 2)) == '"' + "a" * (LONGEST - 2) + '"'
    assert quote_foreign("a" * (LONGEST - 1)) == '"' + "a" * (LONGEST - 3) + '…"'
    assert quote_foreign("ab\ncd", 6) == '"ab…"'
    assert quote_foreign("\n\n\n", 6) == r'"\n…"'
