"""Cards as they are found: one, those of a session, and all of the inbox."""

from showcaller.store.commands import cards as commands
from showcaller.store.queries import cards
from tests.store.commands.test_cards import card_of
from tests.store.desk import Desk, ending
from tests.store.plans import plan


def ask(desk: Desk, name: str, at: int, session: str = "a") -> None:
    """Open a card in the turn of a session."""
    of = {"session": f"ses_{session}", "message": f"msg_{session}"}
    desk.value("open_card", card=card_of(name, **of), at=at)


def test_a_session_tells_what_it_waits_on_while_it_waits(desk: Desk) -> None:
    desk.handed("a", "a")
    assert desk.read("load_session", session="ses_a")["waits_on"] == []
    ask(desk, "write", 2_000)
    desk.value(
        "open_card", card=card_of("which", message="msg_a", kind="ask_user", allow_freeform=True), at=2_100
    )
    loaded = desk.read("load_session", session="ses_a")
    assert loaded["waits_on"] == ["permission", "ask_user"]
    assert [card["id"] for card in loaded["cards"]] == ["q_write", "q_which"]
    assert [card["id"] for card in desk.read("pending_cards", session="ses_a")] == ["q_write", "q_which"]
    desk.value("end_card", card="q_write", status="answered", at=2_200)
    loaded = desk.read("load_session", session="ses_a")
    assert loaded["waits_on"] == ["ask_user"]
    assert [card["status"] for card in loaded["cards"]] == ["answered", "pending"]
    (watched,) = desk.read("watched_sessions", sessions=["ses_a"])["sessions"]
    assert watched["waits_on"] == ["ask_user"]
    desk.value("end_turn", **ending("a"))
    loaded = desk.read("load_session", session="ses_a")
    assert (loaded["waits_on"], loaded["cards"]) == ([], [])


def test_a_session_with_a_card_is_active(desk: Desk) -> None:
    desk.handed("a", "a")
    desk.handed("b", "b")
    desk.value("end_turn", **ending("b"))
    ask(desk, "write", 2_000)
    assert [row["id"] for row in desk.read("list_sessions", scope="active")["sessions"]] == ["ses_a"]


def test_the_inbox_has_all_that_wait_newest_first_in_pages(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.handed(name, name)
    for number in range(5):
        ask(desk, f"{number}", 2_000 + number // 2, "ab"[number % 2])
    desk.value("end_card", card="q_2", status="dismissed", at=3_000)
    first = desk.read("inbox", limit=2)
    assert [(card["id"], card["title"]) for card in first["cards"]] == [
        ("q_4", "Session a"),
        ("q_3", "Session b"),
    ]
    second = desk.read("inbox", limit=2, after=first["next"])
    assert [card["id"] for card in second["cards"]] == ["q_1", "q_0"]
    assert second["next"] is None
    assert desk.read("inbox", limit=4)["next"] is None


def test_cards_are_found_without_reading_all(desk: Desk) -> None:
    values = {"session": "ses_a", "message": "msg_a", "card": "q_a", "limit": 3, "at": 1, "id": "q_a"}
    assert "card_pending" in plan(desk, cards._KINDS, **values)
    assert "card_pending" in plan(desk, cards._WAITING, **values)
    assert "card_pending" in plan(desk, cards._FIRST_PAGE, **values)
    assert "card_pending" in plan(desk, commands._WITHDRAW, **values)
    assert "SCAN" not in plan(desk, cards._OF_TURN, **values)
