"""What callers named their writes, for as long as it is kept."""

from showcaller.store.commands.pruning import _DELETE_CLIENT_IDS, _OLD_CLIENT_IDS
from showcaller.store.queries.repeats import _BY_KEY
from tests.store.desk import Desk, message_of
from tests.store.plans import plan


def test_a_named_write_is_found_with_what_came_of_it(desk: Desk) -> None:
    desk.session("a")
    prompt = message_of("m", session="ses_a", client_id="one", fingerprint="f")
    desk.value("accept_message", message=prompt)
    call = {"client_id": "two", "fingerprint": "g", "caller": "ses_x"}
    desk.value("hold_queue", session="ses_a", at=2_000, call=call)
    assert desk.read("client_call", caller=None, client_id="one") == {
        "fingerprint": "f",
        "message": "msg_m",
        "session": "ses_a",
        "result": None,
        "created_at": 1_000,
    }
    assert desk.read("client_call", caller="ses_x", client_id="two")["result"] == {"held_at": 2_000}
    assert desk.read("client_call", caller="ses_x", client_id="one") is None


def test_names_are_forgotten_after_their_time(desk: Desk) -> None:
    for number in range(4):
        call = {"client_id": str(number), "fingerprint": "f", "result": {"held_at": number}}
        desk.value("remember_call", call=call, at=1_000 * number)
    assert desk.value("prune_client_ids", before=3_000, limit=2) == {"pruned": 2, "more": True}
    assert desk.value("prune_client_ids", before=3_000, limit=2) == {"pruned": 1, "more": False}
    assert desk.rows("SELECT client_id FROM client_id") == [("3",)]
    assert desk.value("prune_client_ids", before=3_000) == {"pruned": 0, "more": False}
    again = {"client_id": "0", "fingerprint": "other"}
    assert desk.value("remember_call", call=again, at=9_000) == {}


def test_names_are_found_by_their_key_and_forgotten_from_the_oldest_on(desk: Desk) -> None:
    assert "sqlite_autoindex_client_id_1" in plan(desk, _BY_KEY, caller="", client_id="one")
    assert "TEMP B-TREE" not in plan(desk, _OLD_CLIENT_IDS, limit=10)
    assert "INTEGER PRIMARY KEY (rowid<?)" in plan(desk, _DELETE_CLIENT_IDS, last=10)
