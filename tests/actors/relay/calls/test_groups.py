"""Groups of sessions: what their owner does with them, and what agents cannot."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.groups import (
    DissolveGroup,
    Groups,
    NewGroup,
    OrderGroups,
    RenameGroup,
)
from showcaller.actors.contract.outside import OutsideRequest, read_request
from showcaller.actors.relay.calls import OWNER, ActRequest, Caller, GroupRequest, WatchRequest
from tests.actors.relay.calls.agents import agent, end_turn, open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


def change(stage: Stage, model: type[OutsideRequest], **given: Any) -> dict[str, Any]:
    """Have the owner change a group; gives the result."""
    request: Any = read_request(model, given)
    begun = stage.door._request(GroupRequest(request))
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def listed(stage: Stage, caller: Caller = OWNER) -> dict[str, Any]:
    begun = stage.door._request(WatchRequest(read_request(Groups, {}), caller))
    stage.settle()
    result: dict[str, Any] = begun.get()
    return result


def named(stage: Stage, name: str) -> str:
    """Have the owner make a group; gives its id."""
    group: str = change(stage, NewGroup, title=name)["group"]
    return group


def test_the_owner_makes_renames_orders_and_dissolves_groups(stage: Stage) -> None:
    first, second = named(stage, "Release 2.4"), named(stage, "nightly")
    session = stage.create("x", group="RELEASE 2.4")[0]
    renamed = change(stage, RenameGroup, group="release 2.4", title="Release 2.5")
    assert (renamed["group"], renamed["name"]) == (first, "Release 2.5")
    assert stage.call("read_session", session=session)["group"]["name"] == "Release 2.5"
    assert change(stage, OrderGroups, groups=["Nightly", first])["groups"] == [second, first]
    found = listed(stage)
    assert [(one["name"], one["memberCount"], one["madeBy"]) for one in found["groups"]] == [
        ("nightly", 0, "owner"),
        ("Release 2.5", 1, "owner"),
    ]
    assert found["groupsTotal"] == 2
    gone = change(stage, DissolveGroup, group=first)
    assert (gone["group"], gone["sessions"]) == (first, 1)
    assert stage.call("read_session", session=session).get("group") is None
    refused = change(stage, RenameGroup, group=first, title="x")
    assert (refused["code"], refused["groups"]) == (
        "REMOTE_RELAY_UNKNOWN_GROUP",
        [{"id": second, "name": "nightly"}],
    ), "an empty one can be named too"
    assert "Nothing was renamed" in refused["error"]


def test_a_group_that_the_owner_made_stays_when_it_is_empty_and_an_agents_goes(stage: Stage) -> None:
    caller = agent(stage, "the starter")
    caller.start()
    assert [(one["name"], one["madeBy"]) for one in listed(stage)["groups"]] == [("the starter", "agent")]
    kept = named(stage, "kept")
    for session in [row["id"] for row in stage.call("list_sessions")["sessions"]]:
        end_turn(stage, session)
        begun = stage.door._request(_delete(session))
        stage.settle()
        assert begun.get()["ok"]
    assert [one["id"] for one in listed(stage)["groups"]] == [kept]


def _delete(session: str) -> Any:
    return ActRequest("delete", session)


@pytest.mark.parametrize("kind", ["agent", "external"])
def test_groups_are_listed_for_their_owner_alone(stage: Stage, kind: Any) -> None:
    caller = agent(stage)
    refused = listed(stage, Caller(kind, caller.session, supervises=True))
    assert refused["code"] in {"REMOTE_RELAY_FORBIDDEN", "REMOTE_RELAY_UNAUTHENTICATED"}


@pytest.mark.parametrize("name", ["none", "NONE", "grp_aaaaaaaaaaaa", "GRP_x", " grp_1", "two\nlines"])
def test_no_group_is_called_what_would_be_taken_for_something_else(stage: Stage, name: str) -> None:
    group = named(stage, "kept")
    for model, more in ((NewGroup, {}), (RenameGroup, {"group": group})):
        with pytest.raises(Refusal, match=r"Nothing|no name|one line"):
            read_request(model, {"title": name, **more})


def test_a_group_named_like_the_id_of_another_is_not_taken_for_it(stage: Stage) -> None:
    victim = named(stage, "the right one")
    stage.fan_out(["a"], name=victim).work()
    made = agent(stage).call("create_session", text="x", group=victim, wait_seconds=0)
    assert made["group"]["id"] == victim


def test_the_group_of_a_fanout_cannot_be_dissolved(stage: Stage) -> None:
    stage.fan_out(["a"], name="many").work()
    refused = change(stage, DissolveGroup, group="many")
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert "Nothing was dissolved" in refused["error"]


def test_a_group_that_is_dissolved_between_look_up_and_start_is_unknown_and_nothing_is_created(
    stage: Stage,
) -> None:
    caller, group = agent(stage), named(stage, "Release")
    stage.store.hold()
    dissolved = stage.door._request(GroupRequest(DissolveGroup(group=group)))
    stage.settle()
    begun = caller.begin("create_session", text="x", group="release", wait_seconds=0)
    stage.settle()
    assert not begun.done
    stage.store.release()
    stage.settle()
    assert (dissolved.get()["ok"], begun.get()["code"]) == (True, "REMOTE_RELAY_UNKNOWN_GROUP")
    assert stage.read("counts")["sessions"] == 1


def test_a_session_that_finds_no_group_any_more_is_created_and_says_so(stage: Stage) -> None:
    caller = agent(stage)
    end_turn(stage, caller.session)
    stage.reader.hold("started_at_work")
    begun = caller.begin("create_session", text="x", wait_seconds=0)
    stage.settle()
    deleted = stage.door._request(_delete(caller.session))
    stage.settle()
    assert deleted.get()["ok"]
    stage.reader.release()
    stage.settle()
    made = begun.get()
    assert (made["ok"], made["group"]) == (True, None), made
    assert "no group" in made["groupWarning"]
    assert made["summary"].endswith("(no group: the group that it was to be in was gone by then)")


def test_groups_of_one_name_are_told_of_each_other(stage: Stage) -> None:
    first = change(stage, NewGroup, title="Nightly")
    other = change(stage, NewGroup, title="Weekly")
    assert "note" not in first | other
    assert "note" not in change(stage, NewGroup, title="NIGHTLY"), "which is told apart by its case"
    second = change(stage, NewGroup, title="Nightly")
    said = f"{first['group']} has that name too, so from now on each is named by its id."
    assert second["note"] == said
    assert change(stage, RenameGroup, group=other["group"], title="Nightly")["note"].startswith("grp_")
    refused = change(stage, DissolveGroup, group="Nightly")
    assert (refused["code"], refused["groupsTotal"]) == ("REMOTE_RELAY_UNKNOWN_GROUP", 3)
    assert change(stage, DissolveGroup, group=first["group"])["ok"]
