"""The relay's own row, and groups."""

from tests.store.desk import Desk


def test_a_store_keeps_the_id_and_the_name_it_got_first(desk: Desk) -> None:
    first = desk.value("open_relay", relay="rly_a", name="desk", version="1.0", at=10)
    again = desk.value("open_relay", relay="rly_b", name="other", version="1.1", at=20)
    assert first == {"id": "rly_a", "name": "desk", "version": "1.0", "created_at": 10, "opened_at": 10}
    assert again == {"id": "rly_a", "name": "desk", "version": "1.1", "created_at": 10, "opened_at": 20}
    assert desk.rows("SELECT id, name, version, created_at, opened_at FROM relay") == [
        ("rly_a", "desk", "1.1", 10, 20)
    ]


def test_a_group_is_stored(desk: Desk) -> None:
    desk.value("create_group", group="grp_a", name="Reviews", origin="owner", at=5)
    assert desk.rows("SELECT id, name, origin, head, created_at FROM session_group") == [
        ("grp_a", "Reviews", "owner", None, 5)
    ]
