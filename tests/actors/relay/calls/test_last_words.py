"""Which replies end in a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.calls.last_words import last_words_ask

ASKING = [
    "Shall I go on?",
    "Done.\n\nShall I push it?\n\n  ",
    "我可以继续吗\uff1f",
    "هل أستمر\u061f",
    "**Which of the two?**",
    "_Really?_ ",
    "```\nx = 1\n```\nIs that right?",
    "```py\ncode\n~~~\n```\nand now?",
    "Use `a ? b : c`?",
    "``` is a fence``` is it not?",
    "> you said so\nDid you?",
    "What is next?\r\n",
]
SAYING = [
    "",
    "\n \n",
    "Done.",
    "What? No.",
    "Shall I go on?\nI went on.",
    "```\nwhat?\n```",
    "```\nwhat?",
    "~~~sh\nls ?\n~~~\n",
    "Shall I run this?\n```\nrm -r x\n```",
    "> are you there?",
    "  > are you there?",
    'It printed "who?"',
    "````\n```\nwhat?",
]


@pytest.mark.parametrize("reply", ASKING)
def test_a_reply_whose_last_line_is_a_question_asks(reply: str) -> None:
    assert last_words_ask(reply)


@pytest.mark.parametrize("reply", SAYING)
def test_another_line_code_and_quotations_do_not(reply: str) -> None:
    assert not last_words_ask(reply)


@given(st.text(alphabet="`~ \n?x>*", max_size=200))
def test_any_text_is_looked_at_and_blank_lines_after_it_change_nothing(reply: str) -> None:
    assert last_words_ask(reply) == last_words_ask(f"{reply}\n\n")


@given(st.text(alphabet="`~ \n?x>*", max_size=200))
def test_the_end_of_a_reply_says_the_same_where_no_code_block_is_cut(reply: str) -> None:
    assert last_words_ask(f"cut ```\n{reply}", is_whole=False) == last_words_ask(f"before\n{reply}")


def test_what_is_left_of_a_line_that_was_cut_begins_no_code_block() -> None:
    assert last_words_ask("``` in a line\nShall I?", is_whole=False)
    assert last_words_ask("one line that is long?", is_whole=False)
