"""What one conversation's agent has started, as the limit on it counts."""

from showcaller.store.queries.started import _AT_WORK
from tests.store.desk import Desk, ending
from tests.store.plans import plan


def test_sessions_at_work_are_those_of_one_starter_that_have_something_queued_or_handed(desk: Desk) -> None:
    desk.session("waits", "first", "second", created_by="ses_me")
    desk.handed("runs", "third", created_by="ses_me")
    desk.handed("rests", "fourth", created_by="ses_me")
    desk.value("end_turn", **ending("fourth"))
    desk.session("empty", created_by="ses_me")
    desk.session("other", "fifth", created_by="ses_you")
    desk.session("owners", "sixth")
    assert desk.read("started_at_work", caller="ses_me") == ["ses_runs", "ses_waits"]
    assert desk.read("started_at_work", caller="ses_nobody") == []


def test_only_what_is_under_way_is_looked_at(desk: Desk) -> None:
    steps = plan(desk, _AT_WORK, caller="ses_me")
    assert "message_unfinished" in steps
    assert "SCAN session" not in steps
