"""Fan-outs and their items."""

from tests.store.desk import Desk


def start(desk: Desk, name: str, title: str | None, at: int, items: int = 1) -> None:
    """Start a fan-out."""
    group = {"id": f"grp_{name}", "name": title}
    desk.value("start_fanout", group=group, spec="{}", items=["1"] * items, at=at)


def test_items_come_page_by_page(desk: Desk) -> None:
    start(desk, "a", None, 10, items=5)
    pages = [
        [item["number"] for item in desk.read("fanout_items", group="grp_a", after=after, limit=2)]
        for after in (0, 2, 4, 5)
    ]
    assert pages == [[1, 2], [3, 4], [5], []]


def test_the_newest_fan_outs_come_first(desk: Desk) -> None:
    for name, at in (("a", 10), ("b", 30), ("c", 20)):
        start(desk, name, name.upper(), at)
    assert [job["name"] for job in desk.read("last_fanouts", limit=2)] == ["B", "C"]
    assert desk.read("fanout", group="grp_x") is None


def test_a_group_is_found_by_its_name_or_by_how_its_id_begins(desk: Desk) -> None:
    start(desk, "abc1", "nightly", 10)
    start(desk, "abc2", "nightly", 20)
    start(desk, "xyz", "abc", 30)
    found = {
        prefix: [group["id"] for group in desk.read("find_group", prefix=prefix)]
        for prefix in ("nightly", "abc", "abc1", "grp_abc", "night")
    }
    assert found == {
        "nightly": ["grp_abc2", "grp_abc1"],
        "abc": ["grp_xyz"],
        "abc1": ["grp_abc1"],
        "grp_abc": ["grp_abc1", "grp_abc2"],
        "night": [],
    }
