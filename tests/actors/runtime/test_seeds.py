"""Seeded runs: an order of events and an order of steps drawn from one number, which repeats them."""

import logging
import random
from collections.abc import Callable, Iterator

import pytest

from tests.actors.runtime.world import CAST, World

COMMAND = "python -m pytest tests/actors/runtime/test_seeds.py --seed"
EVENTS = 300


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the seeds that were asked for, or the first ones."""
    if "seed" in metafunc.fixturenames:
        one = metafunc.config.getoption("seed", None)
        seeds = range(int(metafunc.config.getoption("seeds", 60) or 0)) if one is None else [one]
        metafunc.parametrize("seed", seeds)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Keep the reports of failures that are meant out of the way."""
    logger = logging.getLogger("pykka")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


def play(seed: int) -> None:
    """Draw a play from a seed, and run it."""
    draw = random.Random(seed)
    world = World(seed, draw.choice(["one_for_one", "one_for_all", "rest_for_one"]))
    names = sorted(CAST)
    events: list[tuple[int, Callable[[], object]]] = [
        (20, lambda: world.tell(draw.choice(names))),
        (3, lambda: world.boom(draw.choice(names))),
        (10, lambda: world.ask(draw.choice(names))),
        (6, lambda: world.request(draw.choice(names), draw.choice([0.0, 1.0, 60.0]))),
        (1, lambda: world.stop(draw.choice(names))),
        (1, lambda: world.kill(draw.choice(names))),
        (2, lambda: world.watch(draw.choice(names))),
        (5, lambda: world.timer(draw.choice(names), draw.random() * 30)),
        (2, lambda: world.cancel(draw.randrange(1_000))),
        (8, lambda: world.open_gate(draw.randrange(1_000))),
        (4, lambda: world.reply_late(draw.randrange(1_000))),
        (30, world.step),
        (2, world.settle),
        (4, lambda: world.advance(draw.choice([0.1, 1.0, 45.0]))),
    ]
    weights = [weight for weight, _ in events]
    for _ in range(EVENTS):
        draw.choices(events, weights)[0][1]()
        world.check()
    world.end()


def test_a_play_keeps_every_promise(seed: int) -> None:
    try:
        play(seed)
    except BaseException as error:
        error.add_note(f"repeat with: {COMMAND} {seed}")
        raise


def test_a_failing_seed_prints_the_command_that_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: World) -> None:
        raise AssertionError("a promise is broken")

    monkeypatch.setattr(World, "check", broken)
    with pytest.raises(AssertionError) as failed:
        test_a_play_keeps_every_promise(5)
    assert failed.value.__notes__ == [f"repeat with: {COMMAND} 5"]
