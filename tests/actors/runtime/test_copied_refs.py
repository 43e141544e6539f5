"""A copy of a ref is that ref."""

import copy
import pickle

import pytest

from showcaller.actors.runtime import ActorDeadError
from showcaller.actors.runtime.testkit import ManualDispatcher
from tests.actors.runtime.stage import Failing


def test_a_copied_ref_dies_with_its_actor(manual: ManualDispatcher) -> None:
    ref = Failing.start()
    copied, deep = copy.copy(ref), copy.deepcopy([ref])[0]
    assert copied.ask("hello") == deep.ask("hello") == "hello"
    ref.stop()
    for each in (copied, deep):
        assert not each.is_alive()
        with pytest.raises(ActorDeadError):
            each.ask("hello")


def test_a_ref_does_not_leave_its_process(manual: ManualDispatcher) -> None:
    with pytest.raises(TypeError, match="means nothing outside of its process"):
        pickle.dumps(Failing.start())
