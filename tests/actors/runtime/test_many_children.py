"""Very many children that fail at once: what is done about one does not depend on how many there are."""

from typing import Any

import pytest

from showcaller.actors.runtime import Actor, ChildSpec, GetChild, RestartIntensity, Supervisor
from showcaller.actors.runtime.job import Job
from showcaller.actors.runtime.testkit import ManualDispatcher


class Failing(Actor):
    """Fails when it is told to, and answers else."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        if message == "fail":
            raise ValueError
        return message


def test_no_restart_of_one_for_one_is_looked_for_among_the_others(
    manual: ManualDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Job] = []
    stops = Job.stops

    def counted(job: Job, child: Any) -> bool:
        looked.append(job)
        return stops(job, child)

    monkeypatch.setattr(Job, "stops", counted)
    specs = [ChildSpec(str(number), Failing) for number in range(50)]
    supervisor = Supervisor.start(specs, intensity=RestartIntensity(1000, 1))
    children = [supervisor.ask(GetChild(spec.name)) for spec in specs]
    for child in children:
        assert child is not None
        child.tell("fail")
    assert [child.ask(1) for child in children if child is not None] == [1] * 50
    assert looked == []
