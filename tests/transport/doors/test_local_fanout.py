"""A fan-out as its program sees it: how many results may wait to be taken."""

from showcaller.actors.contract.fanout import ItemResult
from showcaller.actors.relay.fanout_messages import Room
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.transport.doors.local_fanout import MOST_RESULTS, MOST_TEXT, LocalFanout


def result(reply: str = "") -> ItemResult:
    return ItemResult(item="a", status="done", reply=reply)


def test_a_reader_that_is_slow_is_waited_for_and_the_fan_out_told_once_when_it_has_caught_up() -> None:
    with ManualDispatcher() as dispatcher:
        ref, heard = probe()
        run = LocalFanout("grp_1")
        run._begun.set()
        run.follow(ref)
        for _ in range(MOST_RESULTS - 1):
            run.result(result())
        assert run.has_room()
        run.result(result())
        refused = run.has_room()
        assert refused is False
        taken = run.results()
        for _ in range(MOST_RESULTS // 2 - 1):
            next(taken)
        dispatcher.settle()
        assert heard == []
        for _ in range(MOST_RESULTS // 2):
            next(taken)
        dispatcher.settle()
        assert heard == [Room()]
        assert run.has_room()


def test_few_results_with_long_replies_fill_it_as_well() -> None:
    run = LocalFanout("grp_1")
    run.result(result("x" * (MOST_TEXT - 1)))
    assert run.has_room()
    run.result(result("xx"))
    assert not run.has_room()


def test_a_fan_out_that_has_ended_needs_no_room() -> None:
    with ManualDispatcher() as dispatcher:
        ref, _ = probe()
        run = LocalFanout("grp_1")
        run._begun.set()
        run.follow(ref)
        for _ in range(MOST_RESULTS):
            run.result(result())
        assert not run.has_room()
        run.finished(None)
        ref.stop(block=False)
        dispatcher.settle()
        assert len(list(run.results())) == MOST_RESULTS
