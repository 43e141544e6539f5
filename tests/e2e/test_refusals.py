"""Every command tells the same kinds of failure in the same way: wording, exit code, and ``--json``."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.connection import open_connection
from showcaller.transport.doors.cli.group import COMMANDS, run
from showcaller.transport.doors.cli.output import RESULTS
from tests.e2e.daemon import serving
from tests.e2e.program import Showcaller

SAME = "same"
"""The title of two sessions."""
BOTH = "both"
"""The name of tokens of two kinds."""
TWICE = "twice"
"""The name of two fan-outs, and so of two groups."""
AWAY = "put away"
"""The title of an archived session."""
UNKNOWN = "ses_zzzzzzzzzzzz"
COLOURS = ("red", "blue")

OF_SESSIONS: dict[str, tuple[str, ...]] = {
    "show": ("{}",),
    "send": ("{}", "true"),
    "wait": ("{}", "--timeout", "10s"),
    "monitor": ("{}",),
    "stop-turn": ("{}",),
    "go-on": ("{}",),
    "restart": ("{}",),
    "kill": ("{}",),
    "archive": ("{}",),
    "delete": ("--yes", "{}"),
    "export": ("{}",),
    "unlock": ("{}",),
    "update": ("{}", "--title", "other"),
    "approvals": ("revoke", "{}"),
    "subscriptions": ("{}",),
}
"""Commands that name a session, and their words."""
OF_WHAT_WAS_ALLOWED = {"unlock", "approvals"}
"""Those of them that tell of an agent's calls, whatever has become of its session."""
READ = {"show", "wait", "monitor", "export", "subscriptions"}
"""Those of them that work on an archived session; ``delete`` does, too."""
OF_OTHERS: dict[str, tuple[tuple[str, ...], str]] = {
    "answer": (("q_zzzzzzzzzzzz", "Allow"), "To see what waits: showcaller"),
    "tokens": (("revoke", "nobody"), "showcaller tokens"),
    "fanout": (("--resume", "nothing"), " fanouts"),
    "new": (("--group", "nothing", "true"), f"  {TWICE}"),
    "groups": (("dissolve", "nothing"), f"  {TWICE}"),
}
"""Commands that name something else that there is not, and what is told of it."""
NAME_NOTHING = {
    *(
        "fanouts",
        "sessions",
        "events",
        "inbox",
        "providers",
        "settings",
        "serve",
        "status",
        "stop",
        "doctor",
        "open",
    ),
    *("call", "backup", "restore", "mcp", "completion"),
}


class Ended(NamedTuple):
    """What one command line left behind."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, Any]:
        """The object on standard output."""
        told: dict[str, Any] = json.loads(self.out)
        return told


Command = Callable[..., Ended]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A data folder on which a relay runs, with names that can mean several things."""
    work = tmp_path_factory.mktemp("work")
    with serving(Showcaller(tmp_path_factory.mktemp("base") / "home", work)) as daemon, daemon.owner as owner:

        def called(**arguments: Any) -> dict[str, Any]:
            answer: dict[str, Any] = owner.post("/api/call", json={"relay": "this", **arguments}).json()
            assert answer["ok"], answer
            return answer

        def started(title: str) -> str:
            made = called(action="create_session", title=title, text="true", wait_seconds=60)
            return str(made["session"])

        for _ in COLOURS:
            started(SAME)
        called(action="archive", session=started(AWAY))
        for kind in ("external", "supervisor"):
            assert owner.post("/api/tokens", json={"kind": kind, "name": BOTH}).is_success
        with open_connection(daemon.home, read_only=False) as relay:
            for colour in COLOURS:
                spec = FanoutSpec(
                    kind="command", template="echo {}", provider="command", jobs=1, cwd=str(work), name=TWICE
                )
                assert [result.status for result in relay.start_fanout(spec, [colour]).results()] == ["done"]
        yield daemon.home


@pytest.fixture
def command(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Generator[Command]:
    """Run one command line in this process, which has imported all of it already."""

    monkeypatch.setattr(sys, "argv", ["showcaller"])

    def call(*words: str) -> Ended:
        code = run(["--home", str(home), *words], open_connection, "1.2.3")
        written = capfd.readouterr()
        return Ended(code, written.out, written.err)

    yield call
    if RESULTS.taken is not None:  # as a process it would have ended
        os.close(RESULTS.taken.fileno())
        RESULTS.taken = None


def words_of(name: str, session: str) -> Sequence[str]:
    return [name, *(word.format(session) for word in OF_SESSIONS[name])]


def check_failure(
    command: Command, words: Sequence[str], code: int, refusal: str, *said: str
) -> dict[str, Any]:
    """Check that a command line fails in the one way that there is, and give its object."""
    plain, asked = command(*words), command(*words, "--json")
    assert (plain.code, plain.out) == (code, ""), plain
    assert asked.code == code, asked
    failure = asked.told
    assert (failure["ok"], failure["code"]) == (False, refusal), failure
    for ended in (plain, asked):
        first, *more = ended.err.splitlines()
        assert first == f"Error: {failure['error']}", "the same sentence, whether JSON is asked for or not"
        assert "\n".join(more) == failure.get("wayOut", ""), "and the same way out"
        for each in said:
            assert each in ended.err, ended.err
    return failure


def test_every_command_names_something_or_nothing() -> None:
    assert {*OF_SESSIONS, *OF_OTHERS, *NAME_NOTHING} == set(COMMANDS), "a new command has its place here"


@pytest.mark.parametrize("name", OF_SESSIONS)
def test_a_session_that_there_is_not(command: Command, name: str) -> None:
    check_failure(
        command, words_of(name, "nothing"), 3, "REMOTE_RELAY_NOT_FOUND", "'nothing'", "sessions --scope"
    )
    check_failure(command, words_of(name, UNKNOWN), 3, "REMOTE_RELAY_NOT_FOUND", UNKNOWN, "sessions --scope")


@pytest.mark.parametrize("name", OF_SESSIONS)
def test_a_session_of_a_name_that_several_have(command: Command, name: str) -> None:
    failure = check_failure(
        command, words_of(name, SAME), 2, "REMOTE_RELAY_INVALID_INPUT", "'same' can mean several sessions:"
    )
    assert failure["ambiguous"] is True
    assert len(failure["sessions"]) == len(COLOURS)
    assert all(session in failure["wayOut"] for session in failure["sessions"])


@pytest.mark.parametrize(
    "name", [name for name in OF_SESSIONS if name not in OF_WHAT_WAS_ALLOWED | {"delete"}]
)
def test_a_session_that_was_archived(command: Command, name: str) -> None:
    if name in READ:
        assert command(*words_of(name, AWAY)).code == 0
    else:
        check_failure(
            command, words_of(name, AWAY), 3, "REMOTE_RELAY_NOT_FOUND", "is archived: it can be read"
        )


def test_the_ids_of_fan_outs_of_one_name_are_listed(command: Command) -> None:
    fanouts = json.loads(command("fanouts", "--json").out)["fanouts"]
    assert [(each["name"], each["state"], each["items"], each["notDone"]) for each in fanouts] == [
        (TWICE, "ended", 1, 0)
    ] * 2
    head, *lines = command("fanouts").out.splitlines()
    assert head.split() == ["GROUP", "NAME", "STATE", "ITEMS", "ENDED", "NOT", "DONE", "BEGUN", "AGE"]
    for each, line in zip(fanouts, lines, strict=True):
        assert line.split()[:6] == [each["group"], TWICE, "ended", "1", "1", "0"]
        assert command("fanout", "--resume", each["group"], "--quiet").code == 0


def test_an_archived_session_is_marked_where_it_is_listed_and_shown(command: Command) -> None:
    (listed,) = [line for line in command("sessions", "--scope", "all").out.splitlines() if AWAY in line]
    assert "archived · done" in listed
    assert "state: archived · done" in command("show", AWAY).out


@pytest.mark.parametrize("name", OF_OTHERS)
def test_something_else_that_there_is_not(command: Command, name: str) -> None:
    words, told = OF_OTHERS[name]
    code = "UNKNOWN_GROUP" if name in {"fanout", "new", "groups"} else "NOT_FOUND"
    check_failure(command, (name, *words), 3, f"REMOTE_RELAY_{code}", told)


@pytest.mark.parametrize(
    ("words", "refusal", "kind"),
    [
        (("fanout", "--resume", TWICE), "UNKNOWN_GROUP", "fan-outs"),
        (("new", "--group", TWICE, "true"), "UNKNOWN_GROUP", "groups"),
        (("groups", "rename", TWICE, "x"), "UNKNOWN_GROUP", "groups"),
        (("tokens", "revoke", BOTH), "INVALID_INPUT", "tokens"),
    ],
)
def test_something_else_of_a_name_that_several_have(
    command: Command, words: tuple[str, ...], refusal: str, kind: str
) -> None:
    failure = check_failure(command, words, 2, f"REMOTE_RELAY_{refusal}", f" can mean several {kind}:")
    assert failure["ambiguous"] is True
    ids = [group["id"] for group in failure.get("groups", ())] or failure["kinds"]
    assert len(ids) == len(COLOURS)
    assert all(each in failure["wayOut"] for each in ids)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "mcp"])
def test_a_command_line_that_is_wrong(command: Command, name: str) -> None:
    plain, asked = command(name, "--nonsense"), command(name, "--nonsense", "--json")
    assert plain.code == asked.code == 2
    assert plain.out == ("" if name != "call" else asked.out)
    assert asked.told["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert "--nonsense" in asked.told["error"]


def test_the_name_of_a_client_whose_conversation_was_archived_is_told_the_way_to_another(
    command: Command,
) -> None:
    asked = ("call", "--name", "night shift", '{"action": "list_relays"}')
    assert command(*asked).code == 0
    assert command("archive", "night shift").code == 0
    refused = command(*asked)
    assert refused.code == 1
    way_out = "showcaller tokens new --name 'night shift' --keep"
    assert way_out in refused.told["error"]
    assert command(*shlex.split(way_out)[1:]).code == 0
    assert command(*asked).code == 0, "it has another conversation"
    listed = json.loads(command("sessions", "--scope", "all", "--query", "night", "--json").out)["sessions"]
    assert [session.get("archived", False) for session in listed] == [False, True]


def test_a_call_prints_the_result_as_it_is_and_its_exit_code_says_whether_it_was_refused(
    command: Command,
) -> None:
    carried_out = command("call", '{"action": "list_relays"}')
    assert (carried_out.code, carried_out.told["ok"], carried_out.err) == (0, True, "")
    refused = command("call", '{"action": "read_session", "relay": "this", "session": "ses_zzzzzzzzzzzz"}')
    assert (refused.code, refused.told["ok"], refused.err) == (1, False, "")
    assert refused.told["code"] == "REMOTE_RELAY_LOCAL_DISABLED"
