"""The end of Python while actors still work: they are halted between two slices, so that nothing breaks."""

import signal
import subprocess
import sys

import pytest

from tests.actors.runtime.test_program import HEAD, ROOT, run

SLOW_OUTPUT = """
import io, os, time
class SlowDevice(io.RawIOBase):
    def writable(self): return True
    def write(self, data):
        written = os.write(1, data)
        time.sleep(0.02)
        return written
sys.stdout = io.TextIOWrapper(io.BufferedWriter(SlowDevice()))
class Endless(Writer):
    use_daemon_thread = "daemon" in sys.argv
    def on_receive(self, message):
        super().on_receive(message)
        self.actor_ref.tell(message)
Endless.start().tell('ready')
"""


def ends_by_ctrl_c(text: str) -> bool:
    """Interrupt a program that has said that it is ready; tells whether it ended as interrupted ones do."""
    with subprocess.Popen(
        [sys.executable, "-c", HEAD + text],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=20)
    return program.returncode in (0, -signal.SIGINT, 128 + signal.SIGINT)


def test_who_writes_when_ctrl_c_ends_python_lets_go_of_its_output_first() -> None:
    assert ends_by_ctrl_c(SLOW_OUTPUT)


def test_a_daemon_that_writes_when_python_ends_does_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAD + SLOW_OUTPUT + "time.sleep(0.1)\n", "daemon"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert set(done.stdout.split()) == {"ready"}
    assert (done.returncode, done.stderr) == (0, "")


def test_who_asks_after_a_halt_is_refused() -> None:
    done = run(
        "import atexit\n"
        "def ask():\n"
        "    try:\n"
        "        idle.ask('x', timeout=20)\n"
        "    except ActorDeadError:\n"
        "        print('refused')\n"
        "atexit.register(ask)\n"
        "from showcaller.actors.runtime import ActorDeadError\n"
        "class Endless(Actor):\n"
        "    use_daemon_thread = True\n"
        "    def on_receive(self, message): self.actor_ref.tell(message)\n"
        "idle = Writer.start()\n"
        "Endless.start().tell('again')\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")


@pytest.mark.parametrize("pinned", [False, True], ids=["shared", "pinned"])
def test_a_handler_that_never_ends_does_not_hold_the_end_after_ctrl_c(*, pinned: bool) -> None:
    assert ends_by_ctrl_c(
        f"class Stuck(Writer):\n    pinned = {pinned}\n"
        "    def on_receive(self, message):\n"
        "        super().on_receive(message)\n"
        "        threading.Event().wait()\n"
        "Stuck.start().tell('ready')\n"
    )
