import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.summaries import counted, quoted, summary
from tests.actors.contract.examples import SESSION


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (summary("list_relays", "2 relays, 1 unlocked"), "list_relays: 2 relays, 1 unlocked"),
        (
            summary(
                "send",
                quoted("Did last night's deploy go through?", 20),
                relay="desk",
                session=SESSION,
            ),
            'send → desk session 3f9c2a1e: "Did last night\'s …"',
        ),
        (
            summary("schedule", "every 1440 min (sch_3f9c2a1e7b04)", relay="desk"),
            "schedule → desk: every 1440 min (sch_3f9c2a1e7b04)",
        ),
        (summary("ask", "pending", relay="my: desk"), 'ask → "my: desk": pending'),
    ],
)
def test_a_summary_names_the_action_the_relay_the_session_and_what_came_of_it(made: str, line: str) -> None:
    assert made == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello", '"Hello"'),
        ("\n  Hello \nworld", '"Hello…"'),
        ('say "hi"\r\x1b[0m', '"say \\"hi\\"\\r\\u001b[0m"'),
        ("a" * 100, '"' + "a" * 37 + '…"'),
    ],
)
def test_a_text_is_shown_by_its_beginning(text: str, shown: str) -> None:
    assert quoted(text) == shown


@given(st.text(), st.text())
def test_a_summary_is_one_line_whatever_is_in_it(text: str, relay: str) -> None:
    made = summary("send", quoted(text), relay=relay, session=SESSION)
    assert len(made.splitlines()) == 1
    assert len(made) < 200
    assert made.startswith("send → ")


@pytest.mark.parametrize(("count", "told"), [(0, "0 sessions"), (1, "1 session"), (1_200, "1,200 sessions")])
def test_one_is_not_told_as_several(count: int, told: str) -> None:
    assert counted(count, "session") == told
