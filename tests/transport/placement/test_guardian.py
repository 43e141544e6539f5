"""However a worker ends, nothing of what it has started is there once its death is proven."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from showcaller.actors.contract.fates import fate_of
from showcaller.transport.placement.local import LocalWorker
from showcaller.transport.worker.journal import left_in
from showcaller.transport.worker.process_identity import ProcessIdentity, identify, is_alive, signal_process
from showcaller.transport.worker.process_table import process_ids
from showcaller.transport.worker.remains import WORKERS_VARIABLE, end_remains
from tests.transport.placement.relay import LIMIT, Relay, process_of
from tests.transport.worker.stage import processes_with, wait_gone

SLEEP: Final = "echo $$ > FIFO; exec sleep 1000 > GATE 2>&1"
DAEMON: Final = "sh -c 'echo \\$\\$ > FIFO; exec sleep 1000 > GATE 2>&1' & exit"
TREES: Final = {
    "a command": SLEEP,
    "a session of its own": f"setsid sh -c '{SLEEP}' & wait",
    "a session of its own without an environment": f"setsid env -i /bin/sh -c '{SLEEP}' & wait",
    "a daemon": f'setsid sh -c "{DAEMON}" & read never < GATE',
}
ORPHAN: Final = f'setsid env -i /bin/sh -c "{DAEMON}" & read never < GATE'
"""A daemon without an environment, whose parents have ended: only the guardian can tell whose it was."""
STUBBORN: Final = f"trap '' TERM HUP INT; {SLEEP}"
Kill = Callable[[LocalWorker], None]


def kill_worker(worker: LocalWorker) -> None:
    assert signal_process(process_of(worker), signal.SIGKILL)


def kill_both(worker: LocalWorker) -> None:
    """Kill both at one moment: the worker is stopped first, else it begins to end when its guardian has died.

    It would end the command by that, and of what that has started without an environment nobody could tell.
    """
    assert signal_process(process_of(worker), signal.SIGSTOP)
    for process in (guardian_of(worker), process_of(worker)):
        assert signal_process(process, signal.SIGKILL)


def kill_guardian(worker: LocalWorker) -> None:
    assert signal_process(guardian_of(worker), signal.SIGKILL)


def tell_guardian(worker: LocalWorker) -> None:
    assert signal_process(guardian_of(worker), signal.SIGTERM)


def tell_worker(worker: LocalWorker) -> None:
    assert signal_process(process_of(worker), signal.SIGTERM)


def guardian_of(worker: LocalWorker) -> ProcessIdentity:
    guardian = worker.card.guardian_process
    assert guardian is not None
    return guardian


class Place:
    """A relay, its worker, and the processes of whose start it hears."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.relay = Relay(home, "run-1")
        self.worker = self.relay.start()
        self.marker = self.worker.begun.marker or ""
        assert self.marker
        self.fifo, self._gate = home / "fifo", home / "gate"
        for path in (self.fifo, self._gate):
            os.mkfifo(path)
        # Both ends are open here, so that nobody waits to open one, or reads its end, before it is time.
        self._heard = open(os.open(self.fifo, os.O_RDWR), buffering=1)  # noqa: PTH123, SIM115
        self._held = os.open(self._gate, os.O_RDWR)

    def begin(self, text: str) -> tuple[str, ProcessIdentity]:
        """Start a turn that tells a process id: gives the turn and that process."""
        turn = self.relay.begin(self.worker, self.filled(text))
        return turn, self.hear()

    def filled(self, text: str) -> str:
        return text.replace("FIFO", str(self.fifo)).replace("GATE", str(self._gate))

    def hear(self) -> ProcessIdentity:
        return identify(int(self._heard.readline()))

    def is_proven_dead(self) -> None:
        assert self.relay.deaths.get(timeout=LIMIT) == self.worker.name

    def close(self) -> None:
        self.relay.close()
        self._heard.close()
        os.close(self._held)


@pytest.fixture
def place(home: Path) -> Iterator[Place]:
    place = Place(home)
    yield place
    place.close()


def is_clean(place: Place, process: ProcessIdentity) -> bool:
    """Whether neither the process that was told of is there, nor anything else of the worker."""
    return not is_alive(process) and processes_with(place.marker) == []


@pytest.mark.parametrize("tree", [*TREES.values(), ORPHAN, STUBBORN], ids=[*TREES, "an orphan", "stubborn"])
def test_nothing_of_a_killed_worker_is_there_when_its_death_is_proven(place: Place, tree: str) -> None:
    turn, process = place.begin(tree)
    assert is_alive(process)
    kill_worker(place.worker)
    place.is_proven_dead()
    assert is_clean(place, process)
    assert fate_of(turn, left_in(place.worker.folder)) == "unknown", "it is interrupted, and not run again"


@pytest.mark.parametrize("tree", [*TREES.values(), ORPHAN], ids=[*TREES, "an orphan"])
@pytest.mark.parametrize("tell", [tell_guardian, tell_worker])
def test_nothing_of_a_worker_that_is_told_to_end_is_there(place: Place, tell: Kill, tree: str) -> None:
    turn, process = place.begin(tree)
    tell(place.worker)
    assert place.relay.end_of(turn).stop_reason == "interrupted"
    place.is_proven_dead()
    assert is_clean(place, process)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_worker_whose_guardian_is_killed_ends_what_it_runs_and_itself(place: Place, tree: str) -> None:
    turn, process = place.begin(tree)
    kill_guardian(place.worker)
    assert place.relay.end_of(turn).stop_reason == "interrupted"
    place.is_proven_dead()
    assert is_clean(place, process)


@pytest.mark.parametrize("tree", [*TREES.values(), STUBBORN], ids=[*TREES, "stubborn"])
def test_what_a_worker_and_its_guardian_leave_that_are_both_killed_is_ended_by_the_relay(
    place: Place, tree: str
) -> None:
    _, process = place.begin(tree)
    kill_both(place.worker)
    place.is_proven_dead()
    assert is_clean(place, process)


def test_what_both_have_left_is_ended_by_the_next_relay_before_it_takes_them_for_dead(place: Place) -> None:
    _, process = place.begin(STUBBORN)
    place.relay.close()
    kill_both(place.worker)
    assert all(wait_gone(each.pid) for each in (guardian_of(place.worker), process_of(place.worker)))
    assert is_alive(process)
    place.relay = Relay(place.home, "run-2")
    alive, dead = place.relay.find()
    assert (alive, [folder.path.name for folder in dead]) == ([], [place.worker.name])
    assert is_clean(place, process)


def test_a_dead_worker_counts_as_alive_until_its_guardian_has_done(place: Place) -> None:
    _, process = place.begin(SLEEP)
    guardian = guardian_of(place.worker)
    place.relay.close()
    assert signal_process(guardian, signal.SIGSTOP)
    kill_worker(place.worker)
    assert wait_gone(process_of(place.worker).pid)
    place.relay = Relay(place.home, "run-2")
    (found,), dead = place.relay.find()
    assert dead == []
    assert is_alive(process)
    place.relay.connected(found)
    assert signal_process(guardian, signal.SIGCONT)
    place.is_proven_dead()
    assert is_clean(place, process)


def test_what_a_worker_has_left_is_ended_though_no_relay_is_there(place: Place) -> None:
    _, process = place.begin(STUBBORN)
    place.relay.close()
    kill_worker(place.worker)
    assert wait_gone(guardian_of(place.worker).pid)
    assert is_clean(place, process)


@pytest.mark.parametrize("kill", [kill_worker, kill_both])
def test_a_worker_that_is_killed_while_it_starts_commands_leaves_none_of_them(
    place: Place, kill: Kill
) -> None:
    turns = [place.relay.begin(place.worker, place.filled(SLEEP)) for _ in range(50)]
    begun = [place.hear() for _ in range(5)]
    kill(place.worker)
    place.is_proven_dead()
    assert [process for process in begun if is_alive(process)] == []
    assert processes_with(place.marker) == []
    left = left_in(place.worker.folder)
    assert all(fate_of(turn, left) in ("unknown", "untaken") for turn in turns)


def test_a_program_that_becomes_another_one_at_this_moment_is_not_missed(
    place: Place, tmp_path: Path
) -> None:
    restless = tmp_path / "restless"
    restless.write_text(
        '[ "$1" = 2 ] && echo $$ > FIFO\nexec /bin/sh $0 $(($1 + 1))\n'.replace("FIFO", str(place.fifo))
    )
    _, process = place.begin(f"exec setsid --wait /bin/sh {restless} 1 > GATE 2>&1")
    kill_both(place.worker)
    place.is_proven_dead()
    restless.unlink()
    assert is_clean(place, process)


def test_a_worker_that_loses_its_guardian_before_it_is_ready_is_ended_too(place: Place) -> None:
    other = place.relay.start()
    kill_guardian(other)
    assert place.relay.deaths.get(timeout=LIMIT) == other.name
    assert other.begun.marker is not None
    assert processes_with(other.begun.marker) == []


def test_programs_that_go_on_by_starting_others_end_as_well(place: Place, tmp_path: Path) -> None:
    """Each lives for a moment, so that whoever makes a list of them is late."""
    relentless = tmp_path / "relentless"
    relentless.write_text(place.filled("#!/bin/sh\nsetsid env -i /bin/sh $0 &\n"))
    turn = f"echo $$ > FIFO; setsid env -i /bin/sh {relentless} > GATE 2>&1 & read never < GATE"
    _, process = place.begin(turn)
    kill_worker(place.worker)
    place.is_proven_dead()
    left = [pid for pid in process_ids() if str(relentless) in command_line(pid)]
    relentless.unlink()  # ends them, were they there
    assert left == []
    assert is_clean(place, process)


def test_a_guardian_is_small_ignores_signals_but_one_and_tells_how_its_worker_ended(place: Place) -> None:
    place.begin(SLEEP)
    guardian, worker = guardian_of(place.worker), process_of(place.worker)
    assert resident(guardian.pid) < resident(worker.pid) / 2
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGPIPE):
        assert signal_process(guardian, number)
    assert place.relay.run(place.worker, "echo still there") == "still there\n"
    kill_worker(place.worker)
    place.is_proven_dead()
    assert "ended with -9; processes ended behind it: 1" in place.worker.folder.log.read_text()


def test_commands_get_no_descriptor_of_a_guardian_and_no_signal_is_blocked(place: Place) -> None:
    assert place.relay.run(place.worker, "ls /proc/$$/fd") == "0\n1\n2\n"
    status = place.relay.run(place.worker, "exec grep SigBlk /proc/self/status")
    assert int(status.split()[1], 16) == 0


def test_an_orphan_that_ends_while_its_worker_lives_leaves_no_zombie(place: Place) -> None:
    _, process = place.begin("sh -c 'sh -c \"echo \\$\\$ > FIFO\" & exit' & read never < GATE")
    assert wait_gone(process.pid)
    kill_worker(place.worker)
    place.is_proven_dead()
    assert not Path(f"/proc/{process.pid}").exists()


def test_workers_inside_of_a_worker_are_found_by_the_mark_of_each(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv(WORKERS_VARIABLE, "wrk_outer.0f")
    place = Place(home)
    markers = place.relay.run(place.worker, f"echo ${WORKERS_VARIABLE}").split()
    assert markers == ["wrk_outer.0f", place.marker]
    _, process = place.begin(SLEEP)
    assert end_remains(["wrk_outer.0f"]).killed == 3, "guardian, worker and command"
    place.is_proven_dead()
    assert is_clean(place, process)
    place.close()


def resident(pid: int) -> int:
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line)
    return int(line.split()[1])


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
