"""The folders that were worked in of late."""

from showcaller.store.queries import folders
from tests.store.desk import Desk
from tests.store.plans import plan


def test_folders_come_once_each_and_the_last_used_first(desk: Desk) -> None:
    for number, folder in enumerate(["/a", "/b", None, "/a", "/c", "/b"]):
        desk.session(str(number), cwd=folder, created_at=number)
    assert desk.read("recent_folders") == ["/b", "/c", "/a"]
    assert desk.read("recent_folders", limit=1) == ["/b"]


def test_only_so_many_sessions_are_looked_through(desk: Desk) -> None:
    assert "session_last_activity_at_id" in plan(desk, folders._FOLDERS, limit=10)
    assert folders.LOOKED_AT in folders._FOLDERS.bind({"limit": 10})
