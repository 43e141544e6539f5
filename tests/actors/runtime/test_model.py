"""The runtime against a model of it: Hypothesis looks for the order of events that breaks a promise."""

import logging

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.actors.runtime.world import CAST, World

names = st.sampled_from(sorted(CAST))
which = st.integers(0, 1_000)


class Play(RuleBasedStateMachine):
    """Everything that can happen to the actors of a world, in any order."""

    world: World

    @initialize(
        seed=st.integers(0, 2**32), strategy=st.sampled_from(["one_for_one", "one_for_all", "rest_for_one"])
    )
    def begin(self, seed: int, strategy: str) -> None:
        logging.getLogger("pykka").setLevel(logging.CRITICAL)
        self.world = World(seed, strategy)  # type: ignore[arg-type]

    @rule(name=names)
    def tell(self, name: str) -> None:
        self.world.tell(name)

    @rule(name=names)
    def boom(self, name: str) -> None:
        self.world.boom(name)

    @rule(name=names)
    def ask(self, name: str) -> None:
        self.world.ask(name)

    @rule(name=names, seconds=st.sampled_from([0.0, 1.0, 60.0]))
    def request(self, name: str, seconds: float) -> None:
        self.world.request(name, seconds)

    @rule(name=names)
    def stop(self, name: str) -> None:
        self.world.stop(name)

    @rule(name=names)
    def kill(self, name: str) -> None:
        self.world.kill(name)

    @rule(name=names)
    def watch(self, name: str) -> None:
        self.world.watch(name)

    @rule(name=names, seconds=st.sampled_from([0.0, 0.5, 30.0]))
    def timer(self, name: str, seconds: float) -> None:
        self.world.timer(name, seconds)

    @rule(number=which)
    def cancel(self, number: int) -> None:
        self.world.cancel(number)

    @rule(number=which)
    def open_gate(self, number: int) -> None:
        self.world.open_gate(number)

    @rule(number=which)
    def reply_late(self, number: int) -> None:
        self.world.reply_late(number)

    @rule(steps=st.integers(1, 5))
    def step(self, steps: int) -> None:
        for _ in range(steps):
            self.world.step()

    @rule()
    def settle(self) -> None:
        self.world.settle()

    @rule(seconds=st.sampled_from([0.1, 1.0, 45.0]))
    def advance(self, seconds: float) -> None:
        self.world.advance(seconds)

    @invariant()
    def promises_hold(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.end()
            logging.getLogger("pykka").setLevel(logging.NOTSET)


TestPlay = Play.TestCase
