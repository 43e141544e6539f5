"""Groups and settings of sessions as their owner changes them: by command, and over HTTP."""

import json

import pytest

from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_the_owner_changes_sessions_and_groups_by_command_and_over_http(showcaller: Showcaller) -> None:
    with serving(showcaller) as daemon, daemon.owner as owner:
        made = json.loads(showcaller("groups", "new", "Release 2.4", "--json").out)
        session = json.loads(showcaller("new", "true", "--group", "release 2.4", "--json").out)["session"]
        table = showcaller("groups").out.splitlines()
        assert table[1].split()[:4] == [made["group"], "Release", "2.4", "1"]
        assert showcaller("groups", "rename", "Release 2.4", "a/b").code == 0
        assert showcaller("update", session, "--title", "other", "--group", "New one").code == 0
        assert (
            showcaller("update", session, "--title", "other").err.strip() == f"{session}: it was so already"
        )
        assert showcaller("groups", "order", "new one", "a/b").code == 0
        listed = owner.get("/api/groups").json()
        assert [(one["name"], one["memberCount"]) for one in listed["groups"]] == [("New one", 1), ("a/b", 0)]
        assert showcaller("groups", "dissolve", "a/b", "--json").code == 0
        told = owner.post(
            "/api/acts/update", json={"session": session, "group": "none", "mode": "plan"}
        ).json()
        assert (told["changed"], told["settings"]["group"]) == (["mode", "group"], None)
        refused = owner.post("/api/acts/update", json={"session": session, "may_create_sessions": True})
        assert (refused.status_code, "not started by an agent" in refused.json()["error"]) == (400, True)
        assert [one["name"] for one in owner.get("/api/groups").json()["groups"]] == ["New one"]
    assert showcaller("update", session, "--title", "without a relay").code == 0
    assert showcaller("groups").code == 3
