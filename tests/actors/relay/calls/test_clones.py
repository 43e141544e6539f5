"""Sessions that work on a clone: what they take, from where, and what is said when they are put away."""

from collections.abc import Callable
from typing import Any

import pytest

from showcaller.actors.contract.agent_entries import AgentEntry
from showcaller.actors.contract.agent_messages import CloneSource
from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderCatalogue, ProviderEntry
from tests.actors.relay.calls.agents import OPEN, Agent, end_turn
from tests.actors.relay.calls.test_stopping import act
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

INVALID = "REMOTE_RELAY_INVALID_INPUT"
AGENT = AgentEntry(name="cloner", label="Cloner", command=("cloner",), takes="repo", loads=True)
CLONER = ProviderEntry("cloner", "Cloner", takes="repo", agents_may_start=True, kind="acp", agent=AGENT)
HELPER = ProviderEntry("helper", "Helper", agents_may_start=True)
PROVIDERS = ProviderCatalogue(*BUILT_IN, CLONER, HELPER)


class Clones:
    """A place for clones that says what the test has it say."""

    def __init__(self) -> None:
        self.put_away: list[tuple[str, bool]] = []
        self.told: str | None = "Not pushed: 1 commit."

    def folder(self, session: str) -> str:
        return f"/clones/{session}"

    def left(self, session: str, done: Callable[[str | None], None], *, deletes: bool) -> None:
        self.put_away.append((session, deletes))
        done(self.told)


@pytest.fixture
def clones() -> Clones:
    return Clones()


@pytest.fixture
def stage(open_stage: OpenStage, clones: Clones) -> Stage:
    """A relay whose owner allows one host, and has git."""
    settings = OPEN.model_copy(update={"clone_hosts": ("git.test",), "allowed_folders": ("/srv",)})
    return open_stage(settings=settings, providers=PROVIDERS, clones=clones)


def create(stage: Stage, **more: Any) -> dict[str, Any]:
    return stage.call("create_session", text="work", wait_seconds=0, **{"provider": "cloner", **more})


def test_a_session_works_on_a_clone_in_a_folder_of_its_own(stage: Stage) -> None:
    made = create(stage, repo="https://git.test/a/b", branch="fix")
    assert made["ok"], made
    assert (made["repo"], made["branch"]) == ("https://git.test/a/b", "fix")
    assert "cwd" not in made
    session = made["session"]
    assert f"It works on a fresh clone in /clones/{session}." in made["note"]
    (run,) = stage.workers.runs
    assert run.cwd == f"/clones/{session}"
    assert run.agent is not None
    assert run.agent.clone == CloneSource(url="https://git.test/a/b", branch="fix", hosts=("git.test",))
    assert run.agent.folders == ()
    (listed,) = stage.call("list_sessions")["sessions"]
    assert listed["cwd"] == f"/clones/{session}"


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"repo": "https://git.test/x", "cwd": "/srv"}, "takes no cwd"),
        ({"cwd": "/srv"}, "takes no cwd"),
        ({}, "name its repo"),
        ({"branch": "fix"}, "name its repo"),
        ({"provider": "helper", "repo": "https://git.test/x"}, "takes no repo or branch"),
        ({"provider": "helper", "branch": "fix"}, "takes no repo or branch"),
        ({"repo": "https://user:secret@git.test/x"}, "no password"),
        ({"repo": "ext::touch x"}, "must be an https or ssh address"),
        ({"repo": "/srv/x"}, "must be an https or ssh address"),
        ({"repo": "https://git.test/x", "branch": "--upload-pack=x"}, "name of a branch"),
        ({"repo": "https://git.test/x", "branch": "a\nb"}, "branch"),
    ],
)
def test_a_clone_takes_a_repository_and_no_folder_and_the_others_the_other_way_round(
    stage: Stage, named: dict[str, Any], told: str
) -> None:
    refused = create(stage, **named)
    assert (refused["ok"], refused["code"]) == (False, INVALID)
    assert told in refused["error"]
    assert refused["error"].endswith("Nothing was created.")


@pytest.mark.parametrize(
    ("repo", "host"), [("owner/name", "github.com"), ("https://git.test:8443/x", "git.test:8443")]
)
def test_a_host_that_the_owner_does_not_allow_is_refused_with_how_to_allow_it(
    stage: Stage, repo: str, host: str
) -> None:
    refused = create(stage, repo=repo)
    assert (refused["ok"], refused["code"], refused["hosts"]) == (False, INVALID, ["git.test"])
    assert f"showcaller settings set clone_hosts git.test,{host}" in refused["error"]
    with stage.dispatcher:
        stage.door.set_setting("clone_hosts", ["git.test", host])
    assert create(stage, repo=repo)["ok"]


def test_relay_info_says_what_each_provider_takes(stage: Stage) -> None:
    providers = {each["provider"]: each["takes"] for each in stage.call("relay_info")["providers"]}
    assert (providers["cloner"], providers["helper"]) == ("repo", "folder")
    listed = {row.provider: row.takes for row in stage.door.providers().providers}
    assert (listed["cloner"], listed["helper"]) == ("repo", "folder")


def test_an_agent_starts_one_by_naming_the_repository(stage: Stage) -> None:
    made = create(stage, repo="https://git.test/x")
    starter = Agent(stage, made["session"])
    refused = starter.call("create_session", text="help", wait_seconds=0)
    assert (refused["code"], "name its repo" in refused["error"]) == (INVALID, True)
    begun = starter.call("create_session", text="help", wait_seconds=0, repo="https://git.test/y")
    assert begun["repo"] == "https://git.test/y"


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_a_session_that_is_put_away_says_what_is_not_pushed_each_time(
    stage: Stage, clones: Clones, action: str
) -> None:
    session = create(stage, repo="https://git.test/x")["session"]
    end_turn(stage, session, reply="done")

    def put_away() -> dict[str, Any]:
        if action == "delete":
            return act(stage, "delete", session, "once")
        return stage.call("archive", "once", session=session)

    first = put_away()
    assert "Not pushed: 1 commit." in first["note"]
    assert clones.put_away == [(session, action == "delete")]
    assert put_away()["note"] == first["note"]
    assert clones.put_away[1:] == [(session, False)]


def test_of_a_session_without_a_clone_nothing_is_said(stage: Stage, clones: Clones) -> None:
    session, _ = stage.create(provider="helper", cwd=None)
    end_turn(stage, session, reply="done")
    assert "note" not in stage.call("archive", session=session)
    assert clones.put_away == []


def test_a_native_conversation_is_not_continued_in_a_fresh_clone(stage: Stage) -> None:
    refused = create(stage, repo="https://git.test/x", resume="n1")
    assert (refused["code"], "no conversation can go on there" in refused["error"]) == (INVALID, True)
