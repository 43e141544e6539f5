"""A stop holds the queue until somebody lets it go on."""

import pytest

from tests.store.desk import Desk, message_of


def held_at(desk: Desk, session: str = "ses_a") -> int | None:
    """Read since when the session's queue is held."""
    found: int | None = desk.read("load_session", session=session)["held_at"]
    return found


def test_a_hold_is_stored_and_what_waits_stays(desk: Desk) -> None:
    desk.session("a", "m")
    assert desk.value("hold_queue", session="ses_a", at=5_000) == {"held_at": 5_000}
    assert held_at(desk) == 5_000
    assert [row["key"] for row in desk.read("unfinished")] == ["msg_m"]


def test_a_second_hold_changes_nothing(desk: Desk) -> None:
    desk.session("a")
    desk.value("hold_queue", session="ses_a", at=5_000)
    assert desk.value("hold_queue", session="ses_a", at=6_000) == {"held_at": 5_000}
    assert held_at(desk) == 5_000


def test_a_release_lets_the_queue_go_on_once(desk: Desk) -> None:
    desk.session("a")
    desk.value("hold_queue", session="ses_a", at=5_000)
    assert desk.value("release_queue", session="ses_a") == {"released": True}
    assert desk.value("release_queue", session="ses_a") == {"released": False}
    assert held_at(desk) is None


@pytest.mark.parametrize(("releases", "held"), [(False, 5_000), (True, None)])
def test_a_message_releases_the_queue_only_when_it_says_so(
    desk: Desk, releases: bool, held: int | None
) -> None:
    desk.session("a")
    desk.value("hold_queue", session="ses_a", at=5_000)
    desk.value("accept_message", message=message_of("m", session="ses_a"), releases=releases)
    assert held_at(desk) == held


@pytest.mark.parametrize("refusal", ["queue", "duplicate"])
def test_a_message_that_is_not_taken_releases_nothing(desk: Desk, refusal: str) -> None:
    desk.session("a")
    first = message_of("m", session="ses_a", client_id="one")
    desk.value("accept_message", message=first)
    desk.value("hold_queue", session="ses_a", at=5_000)
    if refusal == "queue":
        other = message_of("n", session="ses_a")
        assert desk.conflict("accept_message", message=other, queue_limit=1, releases=True) == "queue"
    else:
        assert "duplicate" in desk.value("accept_message", message={**first, "id": "msg_n"}, releases=True)
    assert held_at(desk) == 5_000


@pytest.mark.parametrize(("session", "what"), [("ses_x", "missing"), ("ses_a", "archived")])
def test_only_an_open_session_is_held_or_released(desk: Desk, session: str, what: str) -> None:
    desk.session("a")
    desk.value("archive_session", session="ses_a", at=4_000)
    assert desk.conflict("hold_queue", session=session, at=5_000) == what
    assert desk.conflict("release_queue", session=session) == what


def test_archiving_ends_a_hold(desk: Desk) -> None:
    desk.session("a", "m")
    desk.value("hold_queue", session="ses_a", at=5_000)
    desk.value("archive_session", session="ses_a", at=6_000)
    assert held_at(desk) is None
