"""Groups: found by name or id, listed by activity, and their members."""

import pytest

from showcaller.store.queries import session_groups
from tests.store.commands.test_tasks import task_of
from tests.store.desk import Desk
from tests.store.plans import plan


def group(desk: Desk, name: str, title: str | None, at: int = 10) -> None:
    """Make a group."""
    desk.value("create_group", group=f"grp_{name}", name=title, origin="owner", at=at)


def test_a_group_is_found_by_its_whole_id_or_by_its_name_and_by_no_name_that_is_anothers_id(
    desk: Desk,
) -> None:
    group(desk, "abc1", "nightly", 10)
    group(desk, "abc2", "nightly", 20)
    group(desk, "xyz", "grp_abc1", 30)
    found = {
        name: [group["id"] for group in desk.read("find_group", name=name)]
        for name in ("nightly", "grp_abc1", "grp_abc2", "abc2", "grp_abc", "a", "night", "", "grp_")
    }
    nothing: dict[str, list[str]] = {name: [] for name in ("abc2", "grp_abc", "a", "night", "", "grp_")}
    assert found == {
        "nightly": ["grp_abc2", "grp_abc1"],
        "grp_abc1": ["grp_abc1"],
        "grp_abc2": ["grp_abc2"],
        **nothing,
    }


def test_where_a_start_is_given_a_group_is_found_by_how_its_id_begins_too(desk: Desk) -> None:
    group(desk, "abc1", "nightly", 10)
    group(desk, "abc2", "abc1", 20)

    def found(name: str, start: str) -> list[str]:
        return [group["id"] for group in desk.read("find_group", name=name, start=start)]

    assert found("abc", "grp_abc") == ["grp_abc1", "grp_abc2"]
    assert found("abc1", "grp_abc1") == ["grp_abc2"]
    assert found("abd", "grp_abd") == []


def test_a_group_is_found_in_any_case_and_by_its_heads_title_where_no_other_has_the_name(
    desk: Desk,
) -> None:
    group(desk, "a", "Nightly")
    desk.value("create_group", group="grp_led", name=None, origin="agent", at=10, head="ses_head")
    desk.session("head", title="Größe 2.4", group="grp_led")
    for name, found in (("nightly", "grp_a"), ("GRÖSSE 2.4", "grp_led"), ("größe 2.4", "grp_led")):
        assert [each["id"] for each in desk.read("find_group", name=name)] == [found]
    group(desk, "b", "nightly")
    assert [each["id"] for each in desk.read("find_group", name="nightly")] == ["grp_b"]
    assert desk.read("load_session", session="ses_head")["group_name"] == "Größe 2.4"


def test_a_group_without_any_name_is_in_nobodys_way(desk: Desk) -> None:
    desk.value("create_group", group="grp_bare", name=None, origin="agent", at=10, head="ses_gone")
    desk.session("b", group="grp_bare")
    assert desk.read("find_group", name="nobody's") == []
    assert [each["id"] for each in desk.read("find_group", name="grp_bare")] == ["grp_bare"]


@pytest.mark.parametrize("name", [None, "Made"])
def test_a_group_that_an_agent_made_is_there_as_long_as_it_has_sessions_and_an_owners_for_good(
    desk: Desk, name: str | None
) -> None:
    desk.value("create_group", group="grp_made", name=name, origin="agent", at=10, head="ses_head")
    group(desk, "kept", "Kept")
    desk.session("head", title="Head", group="grp_made")
    desk.session("k", group="grp_kept")
    names = ("grp_made", name or "head")
    assert [len(desk.read("find_group", name=each)) for each in names] == [1, 1]
    for session in ("head", "k"):
        desk.value("archive_session", session=f"ses_{session}", at=4_000)
    assert [len(desk.read("find_group", name=each)) for each in names] == [1, 1]
    for session in ("head", "k"):
        desk.value("delete_session", session=f"ses_{session}", at=5_000)
    assert [len(desk.read("find_group", name=each)) for each in names] == [0, 0]
    assert [len(desk.read("find_group", name=each)) for each in ("grp_kept", "kept")] == [1, 1]


def test_groups_come_by_their_newest_activity_with_how_many_they_are(desk: Desk) -> None:
    for name in ("a", "b", "empty"):
        group(desk, name, name.upper())
    desk.session("a1", group="grp_a", created_at=10)
    desk.session("a2", group="grp_a", created_at=50)
    desk.session("b1", group="grp_b", created_at=30)
    listed = desk.read("groups")
    assert listed == {
        "groups": [
            {"id": "grp_a", "name": "A", "member_count": 2, "last_activity_at": 50},
            {"id": "grp_b", "name": "B", "member_count": 1, "last_activity_at": 30},
        ],
        "total": 2,
    }
    assert [found["id"] for found in desk.read("groups", limit=1)["groups"]] == ["grp_a"]
    assert desk.read("groups", limit=1)["total"] == 2


def test_a_group_without_a_name_shows_its_heads_title(desk: Desk) -> None:
    for name, head in (("led", "ses_head"), ("bare", None)):
        desk.value("create_group", group=f"grp_{name}", name=None, origin="agent", at=10, head=head)
    desk.session("head", title="Release 2.4", group="grp_led", created_at=50)
    desk.session("b", group="grp_bare", created_at=40)
    assert [group["name"] for group in desk.read("groups")["groups"]] == ["Release 2.4", None]


def test_a_group_of_deleted_sessions_alone_is_none(desk: Desk) -> None:
    group(desk, "a", "A")
    desk.session("a1", group="grp_a")
    desk.value("delete_session", session="ses_a1", at=5_000)
    assert desk.read("groups") == {"groups": [], "total": 0}
    assert desk.read("group_members", group="grp_a") == []


def test_the_other_members_of_a_group_say_how_they_are(desk: Desk) -> None:
    group(desk, "a", "A")
    desk.session("me", group="grp_a")
    desk.session("idle", group="grp_a", created_at=10)
    desk.session("put_away", group="grp_a")
    desk.value("archive_session", session="ses_put_away", at=1_500)
    desk.session("background", group="grp_a")
    desk.value("start_task", task=task_of("t", session="ses_background"), at=2_000)
    desk.session("runs", "m", group="grp_a", created_at=3_000)
    desk.value("hand_over", message="msg_m", worker="wrk_1", at=3_500)
    desk.session("other")
    members = desk.read("group_members", group="grp_a", but="ses_me")
    assert [(row["id"], row["archived_at"], row["has_turn"], row["has_tasks"]) for row in members] == [
        ("ses_runs", None, True, False),
        ("ses_background", None, False, True),
        ("ses_put_away", 1_500, False, False),
        ("ses_idle", None, False, False),
    ]
    assert len(desk.read("group_members", group="grp_a", but="ses_me", limit=2)) == 2


def test_members_are_counted_and_listed_from_their_index(desk: Desk) -> None:
    newest = plan(desk, session_groups._NEWEST, limit=50)
    assert "SCAN t2" not in newest
    assert newest.count("session_group_members (group=?)") == 3
    others = plan(desk, session_groups._OTHERS, group="grp_a", but="ses_a", limit=50)
    assert "session_group_members (group=?)" in others
    assert "message_unfinished (status=? AND session=?)" in others
    assert "task_running (session=?)" in others
    assert "TEMP B-TREE" not in others
