"""Which agents there are, as the command line tells: known, installed, and seen to work."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller

FAKE = Path(__file__).parents[1] / "agents" / "fake_agent.py"


def write_catalogue(home: Path, *options: str) -> None:
    """Add an agent to the owner's file."""
    home.mkdir(mode=0o700, exist_ok=True)
    state = home.parent / "conversations"
    state.mkdir(exist_ok=True)
    command = json.dumps([sys.executable, "-S", "-E", str(FAKE), *options])
    (home / "providers.toml").write_text(
        f"""[providers.mine]
label = "My agent"
command = {command}
environment = {{ FAKE_AGENT_STATE = {json.dumps(str(state))} }}
"""
    )


def test_a_command_of_the_owners_gets_each_prompt_as_its_input(showcaller: Showcaller) -> None:
    showcaller.home.mkdir(mode=0o700, exist_ok=True)
    (showcaller.home / "providers.toml").write_text(
        '[providers.lines]\nkind = "command"\nlabel = "Count lines"\ncommand = ["wc", "-l"]\n'
    )
    assert states(showcaller, "lines") == {"lines": "ready"}
    with serving(showcaller):
        made = showcaller("new", "--provider", "lines", "one\ntwo\n$(three)\n", "--json")
        assert made.code == 0, made.err
        assert json.loads(made.out)["reply"]["text"].strip() == "3"


def states(showcaller: Showcaller, *arguments: str) -> dict[str, str]:
    """Give the state of each provider by its name."""
    listed = json.loads(showcaller("providers", "--json", *arguments).out)["providers"]
    return {one["provider"]: one["state"] for one in listed}


def test_an_agent_is_ready_when_it_has_answered_with_a_relay_and_without(showcaller: Showcaller) -> None:
    write_catalogue(showcaller.home)
    assert states(showcaller, "mine", "nobody") == {"mine": "available", "nobody": "unknown"}
    checked = showcaller("providers", "mine", "--check")
    assert checked.code == 0, checked.err
    assert "mine      ready  acp   1.5" in checked.out
    assert "mine: models small, large" in checked.out
    with serving(showcaller) as daemon:
        (row,) = json.loads(showcaller("providers", "mine", "--json").out)["providers"]
        assert (row["state"], row["version"], row["efforts"]) == ("ready", "1.5", ["low", "high"])
        with daemon.owner as client:
            info = client.post("/api/call", json={"action": "relay_info", "relay": "this"}).json()
        (told,) = (one for one in info["providers"] if one["provider"] == "mine")
        assert (told["configured"], told["models"]) == (True, ["small", "large"])


def test_one_that_works_no_more_is_ready_no_more_and_says_why(showcaller: Showcaller) -> None:
    write_catalogue(showcaller.home)
    assert showcaller("providers", "mine", "--check").code == 0
    write_catalogue(showcaller.home, "auth")
    assert states(showcaller, "mine") == {"mine": "available"}
    ended = showcaller("providers", "mine", "--check")
    assert ended.code == 1
    assert "mine does not work: My agent: the agent wants a sign-in" in ended.err
    listed = json.loads(showcaller("providers", "mine", "--check", "--json").out)["providers"]
    assert "wants a sign-in" in listed[0]["error"]


def test_a_missing_agent_is_refused_when_a_session_is_to_start_and_says_how_to_get_it(
    showcaller: Showcaller,
) -> None:
    showcaller.home.mkdir(mode=0o700)
    (showcaller.home / "providers.toml").write_text(
        '[providers.mine]\nlabel = "Mine"\ncommand = ["no-such-agent"]\ninstall = "Get it from the moon."\n'
    )
    ended = showcaller("new", "--provider", "mine", "hello")
    assert ended.code == 1
    assert "mine is not installed here: there is no program no-such-agent. Get it from the moon." in ended.err
    assert states(showcaller, "mine") == {"mine": "missing"}
    assert showcaller("providers", "mine").code == 1
    assert "mine" in showcaller("doctor").out


@pytest.mark.parametrize("command", [("providers",), ("sessions",), ("serve",)])
def test_a_mistake_in_the_owners_file_is_told_with_file_and_key(
    showcaller: Showcaller, command: tuple[str, ...]
) -> None:
    if command == ("sessions",):
        assert showcaller("new", "true").code == 0  # there is something to open
    showcaller.home.mkdir(mode=0o700, exist_ok=True)
    (showcaller.home / "providers.toml").write_text("[providers.mine]\nlabel = 'M'\ncomand = ['m']\n")
    ended = showcaller(*command)
    assert ended.code == 1
    assert f'{showcaller.home / "providers.toml"}: providers.mine."comand": there is no such key' in ended.err
    assert "Traceback" not in ended.err
