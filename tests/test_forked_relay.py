"""A relay in a program that forks: it goes on in the parent, and the child is told so instead of waiting."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, json, os, signal, sys, warnings
from showcaller import FanoutSpec, Relay
from showcaller.actors.contract.errors import Refusal

def told(ask):
    try:
        result = ask()
    except Refusal as refusal:
        return refusal.error
    return result["error"] if isinstance(result, dict) else repr(result)

signal.alarm(50)
warnings.simplefilter("ignore")
spec = FanoutSpec(kind="command", template="echo {}", provider="command", jobs=1, cwd="/")
create = {"action": "create_session", "text": "echo hello", "wait_seconds": 30}
with Relay.open(sys.argv[1]) as relay:
    run = relay.start_fanout(spec, ["a"])
    child = os.fork()
    if not child:
        signal.alarm(20)
        asks = [
            lambda: relay.call(create),
            lambda: asyncio.run(relay.call_async(create)),
            lambda: relay.kill("ses_000000000000"),
            lambda: relay.start_fanout(spec, ["a"]),
            lambda: relay.fanout(spec, ["a"]),
            lambda: relay.resume_fanout("x"),
            lambda: relay.list_fanouts(),
            lambda: relay.set_setting("max_turn_minutes", 5),
            lambda: list(run.results()),
        ]
        heard = [told(ask) for ask in asks]
        run.stop()
        relay.close()
        print(json.dumps(heard), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)  # not just any: the exits of commands are the relay's
    results = [result.status for result in run.results()]
    print(json.dumps([status, results, relay.call(create)["status"]]), flush=True)
"""


def test_in_a_forked_child_all_is_refused_in_words_and_the_parent_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "home")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    child, parent = map(json.loads, ran.stdout.splitlines())
    assert len(child) == 9
    assert all("forked from the one that opened this relay" in heard for heard in child), child
    assert parent == [0, ["done"], "done"]
