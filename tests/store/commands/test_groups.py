"""Groups are made, renamed, dissolved and put into an order."""

from typing import Any

import pytest

from tests.store.desk import Desk, session_of


def make(desk: Desk, name: str, title: str | None = None, origin: str = "owner", at: int = 10) -> None:
    """Make a group."""
    desk.value("create_group", group=f"grp_{name}", name=title or name, origin=origin, at=at)


def listed(desk: Desk) -> list[str]:
    return [group["id"] for group in desk.read("groups_listed")["groups"]]


def test_a_renamed_group_is_found_by_its_new_name_alone(desk: Desk) -> None:
    make(desk, "a", "Nightly")
    desk.value("rename_group", group="grp_a", name="Daily")
    assert desk.read("find_group", name="nightly") == []
    assert [each["id"] for each in desk.read("find_group", name="daily")] == ["grp_a"]


def test_a_dissolved_group_leaves_its_sessions_in_none(desk: Desk) -> None:
    make(desk, "a")
    desk.session("one", group="grp_a")
    desk.session("two", group="grp_a")
    assert desk.value("dissolve_group", group="grp_a") == {"sessions": 2}
    assert desk.read("load_session", session="ses_one")["group"] is None
    assert listed(desk) == []


def test_the_group_of_a_fanout_is_not_dissolved(desk: Desk) -> None:
    desk.value("start_fanout", group={"id": "grp_f", "name": "f"}, spec="{}", items=['"x"'], at=10)
    assert desk.conflict("dissolve_group", group="grp_f") == "fanout"


@pytest.mark.parametrize("command", ["rename_group", "dissolve_group", "order_groups"])
def test_a_group_that_is_not_there_or_has_gone_empty_is_not_changed(desk: Desk, command: str) -> None:
    make(desk, "made", origin="agent")
    for group in ("grp_none", "grp_made"):
        more: dict[str, dict[str, Any]] = {
            "rename_group": {"group": group, "name": "x"},
            "order_groups": {"groups": [group]},
        }
        assert desk.conflict(command, **more.get(command, {"group": group})) == "group"


def test_no_session_starts_in_a_group_that_was_dissolved(desk: Desk) -> None:
    make(desk, "kept")
    desk.session("a", group="grp_kept")
    desk.value("dissolve_group", group="grp_kept")
    new = session_of("b", group="grp_kept")
    assert desk.conflict("create_session", session=new, message=None) == "group"
    assert desk.read("load_session", session="ses_b") is None


def test_groups_with_a_place_come_first_and_the_others_by_their_newest_activity(desk: Desk) -> None:
    for name, at in (("a", 10), ("b", 20), ("c", 30), ("d", 40)):
        make(desk, name, at=at)
    desk.session("x", group="grp_a", created_at=5_000)
    assert listed(desk) == ["grp_a", "grp_d", "grp_c", "grp_b"]
    desk.value("order_groups", groups=["grp_c", "grp_b"])
    assert listed(desk) == ["grp_c", "grp_b", "grp_a", "grp_d"]
    assert desk.conflict("order_groups", groups=["grp_d", "grp_none"]) == "group"
    assert listed(desk) == ["grp_c", "grp_b", "grp_a", "grp_d"], "it is all or nothing"
    desk.value("order_groups", groups=[])
    assert listed(desk) == ["grp_a", "grp_d", "grp_c", "grp_b"]


def test_a_list_of_groups_sums_up_what_runs_and_what_waits_in_each(desk: Desk) -> None:
    make(desk, "a", "A")
    make(desk, "empty", "Empty")
    desk.handed("one", "m", group="grp_a")
    desk.session("two", group="grp_a")
    found = desk.read("groups_listed", limit=1)
    assert found["total"] == 2
    (group,) = found["groups"]
    assert (group["member_count"], group["at_work"], group["waiting"]) == (2, 1, 0)
    empty = desk.read("groups_listed")["groups"][1]
    assert (empty["name"], empty["member_count"], empty["last_activity_at"]) == ("Empty", 0, None)
