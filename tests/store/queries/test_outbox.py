"""What is left to do, and how much there is."""

from tests.store.desk import Desk, ending, message_of, session_of


def test_what_is_left_to_do_comes_in_the_order_in_which_it_came_up(desk: Desk) -> None:
    desk.session("b", "m1")
    desk.session("a", "m0", "m2")
    desk.value("hand_over", message="msg_m0", worker="wrk_1", at=2_000)
    assert [(row["kind"], row["key"], row["session"]) for row in desk.read("unfinished")] == [
        ("prompt", "msg_m1", "ses_b"),
        ("prompt", "msg_m2", "ses_a"),
    ]


def test_an_attempt_at_an_item_says_which_fan_out_it_waits_for(desk: Desk) -> None:
    desk.value("start_fanout", group={"id": "grp_f", "name": None}, spec="{}", items=["1"], at=1)
    session = session_of("a", group="grp_f")
    desk.value("start_item", group="grp_f", number=1, session=session, message=message_of("m0"))
    desk.value("accept_message", message={**message_of("m1"), "session": "ses_a"})
    desk.session("b", "m2", group="grp_f")
    assert [(row["key"], row["fanout"]) for row in desk.read("unfinished")] == [
        ("msg_m0", "grp_f"),
        ("msg_m1", None),
        ("msg_m2", None),
    ]


def test_everything_is_counted(desk: Desk) -> None:
    desk.handed("a", "m0")
    desk.value("end_turn", **ending("m0"))
    desk.handed("b", "m1")
    desk.session("c", "m2")
    assert desk.read("counts") == {
        "sessions": 3,
        "messages": 4,
        "queued": 1,
        "handed": 1,
        "tasks": 0,
        "events": 3,
        "outbox": 1,
        "fanouts": 0,
    }
