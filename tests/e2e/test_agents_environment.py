"""Inside of an agent's session the owner's commands refuse, and ``call`` acts as that agent."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.e2e.daemon import Daemon, serving
from tests.e2e.program import PROGRAM, Showcaller

pytestmark = pytest.mark.slow

REFUSED = "is for the relay's owner"


@pytest.fixture(scope="module")
def showcaller(tmp_path_factory: pytest.TempPathFactory) -> Showcaller:
    folder: Path = tmp_path_factory.mktemp("agents")
    return Showcaller(folder / "home", folder)


@pytest.fixture(scope="module")
def daemon(showcaller: Showcaller) -> Generator[Daemon]:
    with serving(showcaller, "--log-file", str(showcaller.folder / "log")) as daemon:
        yield daemon


def reply(daemon: Daemon, command: str) -> str:
    """Give what an agent's command line writes, its errors too."""
    with daemon.owner as owner:
        call = {"action": "create_session", "relay": "this", "text": command, "wait_seconds": 60}
        answer = owner.post("/api/call", json=call).json()
        assert "reply" in answer, answer
        return str(answer["reply"]["text"])


@pytest.mark.parametrize("words", ["status", "tokens", "settings set agent_sessions on", "stop", "sessions"])
@pytest.mark.parametrize("emptied", ["", "env -u SHOWCALLER_TOKEN -u SHOWCALLER_WORKERS"])
def test_a_command_of_the_owner_refuses_in_an_agents_process_tree(
    daemon: Daemon, words: str, emptied: str
) -> None:
    said = reply(daemon, f"{emptied} {PROGRAM} {words}; echo $?")
    assert REFUSED in said
    assert said.endswith("\n2\n")


ASKS = """
import os, sys, urllib.error, urllib.request
if "detached" in sys.argv:
    read, write = os.pipe()
    if os.fork():
        os.close(write)
        print(os.fdopen(read).read())
        sys.exit()
    os.setsid()
    if os.fork():
        os._exit(0)
    os.dup2(write, 1)
    os.environ.clear()
token = open(sys.argv[1]).read().strip()
head = {"authorization": "Bearer " + token, "content-type": "application/json"}
for path, body in (("/api/status", None), ("/api/call", b'{"action": "list_relays"}'), ("/mcp", b"{}")):
    try:
        answer = urllib.request.urlopen(urllib.request.Request(sys.argv[2] + path, body, head))
    except urllib.error.HTTPError as error:
        answer = error
    print(answer.status, answer.read().decode()[:60], flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose process a connection is")
@pytest.mark.parametrize("how", ["", "detached"])
def test_the_owners_token_is_refused_in_an_agents_process_tree(daemon: Daemon, how: str) -> None:
    program = daemon.home.parent / "asks.py"
    program.write_text(ASKS)
    command = f"{sys.executable} {program} {daemon.home / 'token'} http://127.0.0.1:{daemon.port} {how}"
    said = reply(daemon, command).split("\n")
    assert [line[:3] for line in said if line] == ["403"] * 3, said
    assert all("REMOTE_RELAY_FORBIDDEN" in line for line in said if line)
    words = [sys.executable, str(program), str(daemon.home / "token"), f"http://127.0.0.1:{daemon.port}"]
    outside = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert [line[:3] for line in outside.stdout.splitlines()] == ["200", "200", "400"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose process a connection is")
@pytest.mark.parametrize("kind", ["external", "supervisor"])
def test_another_clients_token_is_refused_in_an_agents_process_tree(
    daemon: Daemon, showcaller: Showcaller, kind: str
) -> None:
    program, token = daemon.home.parent / "asks.py", daemon.home.parent / kind
    program.write_text(ASKS)
    token.write_text(showcaller("tokens", "new", "--kind", kind, "--name", f"in-tree-{kind}").out)
    said = reply(daemon, f"{sys.executable} {program} {token} http://127.0.0.1:{daemon.port}").split("\n")
    assert [line[:3] for line in said if line] == ["403"] * 3, said
    words = [sys.executable, str(program), str(token), f"http://127.0.0.1:{daemon.port}"]
    outside = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert [line[:3] for line in outside.stdout.splitlines()][1:] == ["200", "400"]


FORWARDS = """
import socket, sys, threading
def pump(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
with socket.create_server(("127.0.0.1", 0)) as server:
    with open(sys.argv[2], "w") as told:
        print(server.getsockname()[1], file=told)
    near = server.accept()[0]
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    back = threading.Thread(target=pump, args=(far, near))
    back.start()
    pump(near, far)
    back.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose process a connection is")
def test_the_owner_is_let_in_through_a_forwarder_while_agents_run_unless_it_is_an_agents(
    daemon: Daemon, tmp_path: Path
) -> None:
    program, told = tmp_path / "forwards.py", tmp_path / "told"
    program.write_text(FORWARDS)
    os.mkfifo(told)
    words = [sys.executable, str(program), str(daemon.port), str(told)]

    def asked() -> int:
        port = int(told.read_text())
        head = {"authorization": f"Bearer {daemon.token}", "host": f"127.0.0.1:{daemon.port}"}
        url = f"http://127.0.0.1:{port}/api/status"
        return httpx.get(
            url, headers={**head, "connection": "close"}, timeout=60, trust_env=False
        ).status_code

    with daemon.owner as owner:
        call = {"action": "create_session", "relay": "this", "text": shlex.join(words), "wait_seconds": 0}
        owner.post("/api/call", json=call)
        assert asked() == 403
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        call["text"] = f"cat {gate}"
        owner.post("/api/call", json=call)
        with gate.open("w"), subprocess.Popen(words) as outside:  # the agent reads, so it runs
            assert asked() == 200
            assert outside.wait(60) == 0


CALLS = """
{emptied} SHOWCALLER_HOME={home} SHOWCALLER_TOKEN=$(cat {token}) {program} call '{{"action": "list_relays"}}'
echo $?
echo '{{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}' |
    {emptied} SHOWCALLER_HOME={home} SHOWCALLER_TOKEN=$(cat {token}) {program} mcp"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose process a connection is")
@pytest.mark.parametrize("emptied", ["env", "env -i", "setsid env -i"])
def test_a_kept_token_of_another_client_is_of_no_use_to_the_program_in_an_agents_process_tree(
    daemon: Daemon, showcaller: Showcaller, emptied: str
) -> None:
    token = daemon.home.parent / "kept"
    if not token.exists():
        token.write_text(showcaller("tokens", "new", "--name", "kept").out)
    said = reply(daemon, CALLS.format(emptied=emptied, home=daemon.home, token=token, program=PROGRAM))
    called, code, offered = said.splitlines()
    assert (json.loads(called)["code"], code) == ("REMOTE_RELAY_FORBIDDEN", "1")
    assert "not taken from inside an agent's process tree" in json.loads(offered)["error"]["message"]


@pytest.mark.parametrize("words", ["call '{}'", "mcp", "mcp --name cli"])
@pytest.mark.parametrize(
    "emptied", ["env -u SHOWCALLER_TOKEN", "env -u SHOWCALLER_TOKEN -u SHOWCALLER_WORKERS"]
)
def test_what_acts_as_the_agent_refuses_in_its_process_tree_without_its_token(
    daemon: Daemon, words: str, emptied: str
) -> None:
    said = reply(daemon, f"{emptied} {PROGRAM} {words} < /dev/null; echo $?")
    assert "its token is missing" in said
    assert said.endswith("\n2\n")


def test_help_and_version_are_for_everybody(daemon: Daemon) -> None:
    said = reply(daemon, f"{PROGRAM} stop --help; {PROGRAM} --version")
    assert "End the relay" in said
    assert REFUSED not in said


def test_an_agents_call_comes_from_its_own_session(daemon: Daemon) -> None:
    said = reply(daemon, f"""{PROGRAM} call '{{"action": "list_sessions", "relay": "this"}}'; echo $?""")
    result, code = said.splitlines()
    assert (json.loads(result)["code"], code) == ("REMOTE_RELAY_LOCAL_DISABLED", "1")
    with daemon.owner as owner:
        assert owner.put("/api/settings/agent_sessions", json={"value": True}).status_code == 200
    said = reply(
        daemon,
        f"""{PROGRAM} call "$(printf '{{"action": "send", "relay": "this", "session": "%s", "text": "x"}}' \\
        $SHOWCALLER_SESSION)"; echo $?""",
    )
    assert "REMOTE_RELAY_OWN_SESSION" in said


def test_a_call_from_outside_has_a_conversation_that_its_name_keeps(
    daemon: Daemon, showcaller: Showcaller
) -> None:
    first = showcaller("call", '{"action": "list_relays"}', "--name", "outside")
    assert (first.code, first.err) == (0, "")
    assert json.loads(first.out)["ok"] is True
    assert showcaller("call", "-", "--name", "outside", stdin='{"action": "nothing"}').code == 1
    listed = json.loads(showcaller("tokens", "--json").out)["tokens"]
    assert [token["name"] for token in listed if token["name"] == "outside"] == ["outside"]
    assert showcaller("tokens", "revoke", "outside").code == 0
    assert showcaller("tokens", "revoke", "outside").code == 3
    shut_out = showcaller("call", '{"action": "list_relays"}', "--name", "outside")
    assert (shut_out.code, json.loads(shut_out.out)["code"]) == (1, "REMOTE_RELAY_UNAUTHENTICATED")
    assert showcaller("tokens", "new", "--name", "outside", "--keep").code == 0
    again = showcaller("call", '{"action": "list_relays"}', "--name", "outside")
    assert again.code == 0, again
    sessions = {row["session"] for row in json.loads(showcaller("tokens", "--json").out)["tokens"]}
    assert len([row for row in listed if row["session"] in sessions]) == len(listed)
    assert showcaller("call", "{}", "--name", "../x").code == 2
    assert (daemon.home / "clients" / "outside").stat().st_mode & 0o777 == 0o600


def test_a_call_by_a_name_that_somebody_elses_token_has_leaves_that_in_force(
    daemon: Daemon, showcaller: Showcaller
) -> None:
    theirs = showcaller("tokens", "new", "--name", "theirs").out.strip()
    refused = showcaller("call", '{"action": "list_relays"}', "--name", "theirs")
    told = json.loads(refused.out)
    assert (refused.code, told["ok"]) == (1, False)
    assert "is taken" in told["error"]
    assert "showcaller tokens new --name theirs --replace --keep" in told["wayOut"]
    headers = {"authorization": f"Bearer {theirs}"}
    url = f"http://127.0.0.1:{daemon.port}/api/call"
    assert (
        httpx.post(url, json={"action": "list_relays"}, headers=headers, trust_env=False).status_code == 200
    )
    assert showcaller("call", '{"action": "list_relays"}', "--name", "mine").code == 0
    refused = showcaller("tokens", "new", "--name", "mine")
    assert (refused.code, refused.out) == (1, "")
    assert "--replace" in refused.err
    assert showcaller("tokens", "new", "--name", "mine", "--replace").code == 0
    assert showcaller("call", '{"action": "list_relays"}', "--name", "mine").code == 1


def test_a_token_of_a_deleted_conversation_is_not_listed_as_in_force(
    daemon: Daemon, showcaller: Showcaller
) -> None:
    made = json.loads(showcaller("tokens", "new", "--name", "leaves", "--json").out)
    assert showcaller("delete", "--yes", made["session"]).code == 0
    (row,) = [
        row for row in json.loads(showcaller("tokens", "--json").out)["tokens"] if row["name"] == "leaves"
    ]
    assert row["state"] == "deleted"
    assert "conversation deleted" in showcaller("tokens").out
    assert showcaller("tokens", "new", "--name", "leaves").code == 0


def test_a_new_token_is_written_once(daemon: Daemon, showcaller: Showcaller) -> None:
    made = showcaller("tokens", "new", "--kind", "supervisor", "--name", "watch")
    assert made.code == 0
    assert made.out.startswith("scs_")
    assert made.out.strip() not in showcaller("tokens").out
    assert daemon.process.poll() is None


def test_without_a_relay_a_call_says_how_to_start_one(tmp_path: Path) -> None:
    ended = Showcaller(tmp_path / "home", tmp_path)("call", '{"action": "list_relays"}')
    assert ended.code == 3
    assert "showcaller serve" in json.loads(ended.out)["wayOut"]


def test_no_token_is_in_the_log_and_the_owners_in_no_agents_environment(
    daemon: Daemon, showcaller: Showcaller
) -> None:
    theirs = showcaller.folder / "theirs"
    assert daemon.token not in reply(daemon, f"printenv; printenv SHOWCALLER_TOKEN > {theirs}")
    tokens = [
        daemon.token,
        theirs.read_text().strip(),
        (daemon.home / "clients" / "outside").read_text().strip(),
    ]
    for token in tokens:
        httpx.get(
            f"http://127.0.0.1:{daemon.port}/{token}",
            headers={"authorization": f"Bearer {token}x"},
            trust_env=False,
        )
    logs = [showcaller.folder / "log", *(path for path in daemon.home.rglob("*log*") if path.is_file())]
    written = "".join(path.read_text() for path in logs)
    assert "ready" in written
    for token in tokens:
        assert token not in written
