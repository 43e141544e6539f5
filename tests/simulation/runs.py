"""Living through the worlds of many seeds: in a fast place and in several processes."""

import atexit
import logging
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from showcaller.store.database import open_for_writing
from tests.simulation.storage import ActorFails
from tests.simulation.world import World

SHARED_MEMORY = Path("/dev/shm")
CHUNK = 20
EXPECTED = ("The writer has ended for good", "The relay cannot start")


class Outcome(NamedTuple):
    """What became of one seed: why it failed (None when all held), its trace, and how far it went."""

    seed: int
    failure: str | None
    trace: str
    steps: int

    @property
    def told(self) -> str:
        """What to print about a failure."""
        return f"seed {self.seed}: {self.failure}\nrepeat it: python -m tests.simulation replay {self.seed}"


class Mistakes(logging.Handler):
    """Hears what a relay logs as an error, and tells its world of what no world plants."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        """Note the record unless it was planted."""
        error = record.exc_info[1] if record.exc_info else None
        told = record.getMessage()
        planted = isinstance(error, ActorFails) or "planted: " in f"{error}"
        lost = self._world.chances.outlives and "but none is known to have it" in told  # it died just now
        if not planted and not lost and not told.startswith(EXPECTED):
            self._world.mistakes.append(f"{told} {error!r}")


def live_through(seed: int) -> Outcome:
    """Live through one seed's world."""
    with _folder() as home:
        shutil.copy(empty_store(), home / "relay.db")
        world = World(seed, home)
        with _listening(world):
            failure = _lived(world)
        return Outcome(seed, failure, world.trace.text, world.steps)


def _lived(world: World) -> str | None:
    try:
        world.run()
    except Exception as error:  # noqa: BLE001 - whatever it is, this seed has found something
        failure = f"{type(error).__name__}: {error}"
        world.say("world", f"BROKEN {failure}")
        return failure
    finally:
        world.drop()
    return None


def first_failure(seeds: Iterable[int]) -> Outcome | None:
    """Live through seeds, in this process, until a promise is broken."""
    return next((outcome for seed in seeds if (outcome := live_through(seed)).failure), None)


def live_through_many(seeds: Iterable[int], jobs: int) -> Iterator[Outcome]:
    """Live through many seeds in several processes; gives the outcomes in order, traces of failures only."""
    empty_store()  # for all processes
    if jobs == 1:
        yield from map(_briefly, seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_briefly, seeds, chunksize=CHUNK)


def _briefly(seed: int) -> Outcome:
    outcome = live_through(seed)
    return outcome if outcome.failure else outcome._replace(trace="")


@cache
def empty_store() -> Path:
    """A store without content, made once: making the tables takes longer than most worlds."""
    folder = Path(tempfile.mkdtemp(prefix="showcaller-empty-", dir=fast_place()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "relay.db"
    open_for_writing(file).close()
    return file


def fast_place() -> Path | None:
    return SHARED_MEMORY if SHARED_MEMORY.is_dir() else None


@contextmanager
def _folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="showcaller-seed-", dir=fast_place()) as folder:
        yield Path(folder)


@contextmanager
def _listening(world: World) -> Generator[None]:
    logs = [logging.getLogger(name) for name in ("showcaller", "pykka")]
    handler = Mistakes(world)
    before = [(log.level, log.propagate) for log in logs]
    for log in logs:
        log.addHandler(handler)
        log.propagate = False
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for log, (level, propagate) in zip(logs, before, strict=True):
            log.removeHandler(handler)
            log.propagate = propagate
            log.setLevel(level)
