"""Proxies of actors that are restarted."""

from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorProxy,
    ActorRef,
    ChildSpec,
    GetChild,
    Supervisor,
    traversable,
)
from showcaller.actors.runtime.testkit import ManualDispatcher


class Growing(Actor):
    """Has one attribute more in each life."""

    registered = False
    lives: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        Growing.lives += 1
        self.life = Growing.lives
        self.part = Part()
        setattr(self, f"only_in_{self.life}", self.life)
        setattr(self.part, f"only_in_{self.life}", self.life)

    def on_receive(self, message: Any) -> None:
        raise ValueError(message)


@traversable
class Part:
    """A part that a proxy leads to."""


@pytest.fixture
def growing(manual: ManualDispatcher) -> ActorRef[Any]:
    """Give an actor that lives for the first time."""
    Growing.lives = 0
    ref: ActorRef[Any] = Supervisor.start([ChildSpec("growing", Growing)]).ask(GetChild("growing"))
    return ref


def test_a_proxy_made_before_a_restart_shows_what_the_new_life_has(
    growing: ActorRef[Any], manual: ManualDispatcher
) -> None:
    proxy = growing.proxy()
    part = proxy.part
    assert proxy.only_in_1.get() == 1
    growing.tell("fail")
    manual.settle()
    assert proxy.life.get() == 2
    assert proxy.only_in_2.get() == 2
    assert part.only_in_2.get() == 2
    assert "only_in_2" in dir(proxy)
    with pytest.raises(AttributeError):
        proxy.only_in_1.get()
    with pytest.raises(AttributeError, match="only_in_3"):
        _ = proxy.only_in_3


def test_proxies_of_one_actor_are_equal_whenever_they_were_made(
    growing: ActorRef[Any], manual: ManualDispatcher
) -> None:
    before = growing.proxy()
    growing.tell("fail")
    manual.settle()
    after = growing.proxy()
    assert before == after
    assert hash(before) == hash(after)
    assert before != before.part
    assert before != growing
    assert isinstance(before.part, ActorProxy)
