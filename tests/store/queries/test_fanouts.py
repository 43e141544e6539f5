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
