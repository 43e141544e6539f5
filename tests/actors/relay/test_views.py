"""How texts are fitted into what a caller asked for."""

from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.messages import Glance
from showcaller.actors.relay.views import cut_middle, fit, in_flight_view

TEXTS = st.lists(st.text(max_size=400), max_size=8)


@given(text=st.text(max_size=600), longest=st.integers(0, 500))
def test_a_text_is_whole_or_keeps_its_head_and_tail_within_the_limit(text: str, longest: int) -> None:
    cut = cut_middle(text, longest)
    assert len(cut) <= longest or cut == text
    if len(text) <= longest:
        assert cut is text
    elif longest > 100:
        assert (cut[0], cut[-1]) == (text[0], text[-1])
        assert "left out" in cut


@given(texts=TEXTS, budget=st.integers(0, 1_000))
def test_texts_together_keep_to_the_budget_and_the_first_are_served_first(
    texts: list[str], budget: int
) -> None:
    fitted = fit(texts, budget)
    assert len(fitted) == len(texts)
    assert sum(len(text) for text, _ in fitted) <= budget
    whole = [not cut for text, cut in fitted if text or cut]
    assert whole == sorted(whole, reverse=True)
    for text, (shown, cut) in zip(texts, fitted, strict=True):
        assert cut or shown == text


def test_what_is_being_written_is_shown_only_with_the_row_of_the_turn_that_writes_it() -> None:
    """The row and the glance are read one after the other, and a turn may have ended between."""
    glance = Glance(turn="msg_2", phase="running", text="half a re", queued=())
    row = {"id": "msg_2", "handed_at": 1_000}
    shown = in_flight_view(glance, row)
    assert shown is not None
    assert (shown.message_id, shown.started_at, shown.text) == ("msg_2", 1_000, "half a re")
    assert in_flight_view(glance, {**row, "id": "msg_1"}) is None
    assert in_flight_view(glance, {**row, "handed_at": None}) is None
    assert in_flight_view(glance, None) is None
    assert in_flight_view(None, row) is None
