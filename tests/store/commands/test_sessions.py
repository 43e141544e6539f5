"""Making sessions, taking prompts, and putting sessions away."""

from typing import Any

import pytest

from tests.store.desk import Desk, message_of, session_of


def test_a_session_is_made_with_its_first_prompt_and_what_must_follow(desk: Desk) -> None:
    made = desk.value("create_session", session=session_of("a", cwd="/srv"), message=message_of("m"))
    session = desk.read("load_session", session="ses_a")
    assert (session["cwd"], session["message_count"], session["last_activity_at"]) == ("/srv", 1, 1_000)
    assert [(message["id"], message["status"]) for message in session["unfinished"]] == [("msg_m", "queued")]
    assert made == {"position": session["unfinished"][0]["position"]}
    assert [(row["kind"], row["key"], row["session"]) for row in desk.read("unfinished")] == [
        ("prompt", "msg_m", "ses_a")
    ]


def test_a_session_may_work_on_a_clone_and_start_others(desk: Desk) -> None:
    clone = {"repo": "https://example.org/a.git", "branch": "main", "may_create_sessions": True}
    desk.session("a", **clone)
    session = desk.read("load_session", session="ses_a")
    assert {name: session[name] for name in clone} == clone
    desk.session("b", may_create_sessions=False)
    session = desk.read("load_session", session="ses_b")
    assert (session["repo"], session["branch"], session["may_create_sessions"]) == (None, None, False)


def test_a_session_without_a_prompt_has_nothing_to_do(desk: Desk) -> None:
    assert desk.value("create_session", session=session_of("a"), message=None) == {"position": None}
    assert desk.read("load_session", session="ses_a")["message_count"] == 0
    assert desk.read("unfinished") == []


def test_a_session_of_a_group_that_is_not_there_is_refused(desk: Desk) -> None:
    assert desk.conflict("create_session", session=session_of("a", group="grp_x"), message=None) == "group"
    assert desk.read("counts")["sessions"] == 0


def test_a_session_joins_its_starters_group_or_makes_one_with_the_starter_as_head(desk: Desk) -> None:
    desk.session("starter")
    for name in ("one", "two"):
        made = session_of(name, origin="agent", created_by="ses_starter", starter_group=f"grp_{name}")
        desk.value("create_session", session=made, message=message_of(name))
    assert desk.rows("SELECT id, head, origin FROM session_group") == [("grp_one", "ses_starter", "agent")]
    for name in ("starter", "one", "two"):
        row = desk.read("load_session", session=f"ses_{name}")
        assert (row["group"], row["group_name"]) == ("grp_one", "Session starter")


def test_a_session_whose_starter_was_deleted_joins_no_group(desk: Desk) -> None:
    desk.session("starter")
    desk.value("delete_session", session="ses_starter", at=2_000)
    made = session_of("one", origin="agent", created_by="ses_starter", starter_group="grp_one")
    desk.value("create_session", session=made, message=None)
    assert desk.read("load_session", session="ses_one")["group"] is None
    assert desk.rows("SELECT id FROM session_group") == []


def test_prompts_keep_the_order_in_which_they_were_accepted_over_all_sessions(desk: Desk) -> None:
    desk.session("a")
    desk.session("b")
    places = [
        desk.value("accept_message", message=message_of(f"m{number}", session=f"ses_{where}"))["position"]
        for number, where in enumerate("abba")
    ]
    assert places == sorted(set(places))
    assert desk.read("load_session", session="ses_a")["message_count"] == 2


def test_a_prompt_moves_the_sessions_last_activity_and_never_back(desk: Desk) -> None:
    desk.session("a")
    desk.value("accept_message", message=message_of("late", session="ses_a", created_at=9_000))
    desk.value("accept_message", message=message_of("early", session="ses_a", created_at=8_000))
    assert desk.read("load_session", session="ses_a")["last_activity_at"] == 9_000


def test_everything_a_sender_says_is_kept(desk: Desk) -> None:
    said = {"text": " ünï\u202e\u200b\n", "item": '{"a": [1]}', "timeout": 1.5, "hops": 2, "caller": "ses_x"}
    desk.session("a")
    desk.value("accept_message", message=message_of("m", session="ses_a", client_id="c", **said))
    found = desk.read("message", message="msg_m")
    assert {name: found[name] for name in said} == said


def test_the_same_client_id_of_the_same_caller_is_taken_once(desk: Desk) -> None:
    desk.session("a")
    first = message_of("m", session="ses_a", caller="ses_x", client_id="one")
    desk.value("accept_message", message=first)
    again = desk.value("accept_message", message={**first, "id": "msg_again"})
    assert again == {"duplicate": "msg_m", "session": "ses_a"}
    assert desk.read("counts")["messages"] == 1
    assert desk.read("load_session", session="ses_a")["message_count"] == 1


def test_the_same_client_id_starts_one_session(desk: Desk) -> None:
    first = message_of("m", client_id="one")
    desk.value("create_session", session=session_of("a"), message=first)
    again = desk.value("create_session", session=session_of("b"), message={**first, "id": "msg_again"})
    assert again == {"duplicate": "msg_m", "session": "ses_a"}
    assert desk.read("counts")["sessions"] == 1


def test_a_repeat_is_known_when_its_session_is_archived_or_full(desk: Desk) -> None:
    desk.session("a")
    first = message_of("m", session="ses_a", client_id="one")
    desk.value("accept_message", message=first)
    again = {**first, "id": "msg_again"}
    assert desk.value("accept_message", message=again, queue_limit=1)["duplicate"] == "msg_m"
    desk.value("archive_session", session="ses_a", at=5_000)
    assert desk.value("accept_message", message=again)["duplicate"] == "msg_m"


@pytest.mark.parametrize("other", [{"fingerprint": "other"}, {"fingerprint": None}, {"session": "ses_b"}])
def test_the_same_client_id_with_another_body_is_refused(desk: Desk, other: dict[str, Any]) -> None:
    desk.session("a")
    desk.session("b")
    first = message_of("m", session="ses_a", client_id="one", fingerprint="f")
    desk.value("accept_message", message=first)
    assert desk.conflict("accept_message", message={**first, "id": "msg_again", **other}) == "client_id"


def test_callers_do_not_share_client_ids(desk: Desk) -> None:
    desk.session("a")
    for number, caller in enumerate([None, "ses_x", "ses_y"]):
        made = desk.value(
            "accept_message",
            message=message_of(f"m{number}", session="ses_a", caller=caller, client_id="one"),
        )
        assert "position" in made


def test_a_prompt_for_no_session_is_refused(desk: Desk) -> None:
    assert desk.conflict("accept_message", message=message_of("m", session="ses_x")) == "missing"


def test_a_full_queue_takes_no_more_until_a_turn_takes_one(desk: Desk) -> None:
    desk.session("a", "m0", "m1")
    third = message_of("m2", session="ses_a")
    assert desk.conflict("accept_message", message=third, queue_limit=2) == "queue"
    desk.value("hand_over", message="msg_m0", worker="wrk_1", at=2_000)
    assert "position" in desk.value("accept_message", message=third, queue_limit=2)


def test_a_hundred_messages_may_wait(desk: Desk) -> None:
    desk.session("a")
    answers = desk.run(
        *[("accept_message", {"message": message_of(f"m{n}", session="ses_a")}) for n in range(101)]
    )
    assert [answer.error for answer in answers] == [None] * 100 + ["conflict"]
    assert answers[-1].value == "queue"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_session", {"session": {**session_of("a"), "colour": "red"}, "message": None}),
        ("accept_message", {"message": {**message_of("m", session="ses_x"), "status": "done"}}),
        ("accept_message", {"message": message_of("m")}),
    ],
)
def test_fields_that_a_sender_has_no_say_in_are_refused(
    desk: Desk, name: str, arguments: dict[str, object]
) -> None:
    desk.session("x")
    assert desk.one(name, **arguments).error == "fault"
    assert desk.read("counts")["messages"] == 0
