"""What a thread was about to run when its process forked is dead in the child, and not deaf."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from showcaller.actors.runtime import Actor, ActorDeadError, ChildSpec, GetChild, Supervisor

class Echo(Actor):
    registered = False
    def on_receive(self, message):
        return message

if sys.argv[1] == "supervised":
    outer = Supervisor.start([ChildSpec("inner", Supervisor, ([ChildSpec("echo", Echo)],))])
    ref = outer.ask(GetChild("inner")).ask(GetChild("echo"))
else:
    ref = Echo.start()
assert ref.ask("there") == "there"
while not ref._gate.acquire(False):  # as a sender does before it schedules the cell
    pass
child = os.fork()
if child == 0:
    try:
        ref.ask("never", timeout=30)
    except ActorDeadError as error:
        print(type(error).__name__, ref.is_alive(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
ref._dispatcher.schedule(ref)
print(ref.ask("still there"))
"""


@pytest.mark.parametrize(("kind", "alive"), [("supervised", False), ("alone", True)])
def test_an_ask_to_an_actor_between_gate_and_queue_ends_in_the_child(kind: str, alive: bool) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind], capture_output=True, text=True, timeout=20, check=False
    )
    assert (run.stdout, run.stderr) == (f"ActorDeadError {alive}\nstill there\n", "")
