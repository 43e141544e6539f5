"""Going on with a fan-out after a stop, a close, or a crash at any moment."""

from collections import Counter
from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.fanout_messages import Room
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Run, Stage

ITEMS = ["a", "b", "c", "d", "e"]


def code_of(run: Run) -> Code:
    (error,) = run.heard.ends
    assert isinstance(error, Refusal), error
    return error.code


def _run_until_crash(stage: Stage, run: Run) -> None:
    """End turns in random order until the relay has died; what its worker ran is told to nobody then."""
    stage.settle()
    while stage.workers.open and not stage.store.crashed:
        outcome = stage.random.choice(["done", "done", "failed"])
        stage.workers.end(stage.random.choice(sorted(stage.workers.open)), outcome)
        stage.settle()


@pytest.mark.parametrize("commits", [True, False])
def test_after_a_crash_at_any_batch_it_goes_on_and_ends_with_every_item_recorded_once(
    open_stage: OpenStage, commits: bool
) -> None:
    """The relay dies at its n-th batch, which is committed or not, for every n there is."""
    cut = 2  # the first batches open the relay; before there is a fan-out nothing can be gone on with
    while True:
        stage = open_stage(cut)
        stage.store.crash_commits = commits
        stage.store.crash_at = stage.store.batches + cut
        run = stage.fan_out(ITEMS, jobs=2, retries=1)
        _run_until_crash(stage, run)
        if not stage.store.crashed:
            return
        handed = Counter(turn.text.removeprefix("run ") for turn in stage.workers.runs)
        second = stage.again(cut)
        try:
            again = second.resume(run.group)
            again.work()
            assert again.heard.ends == [None], cut
            assert again.heard.statuses == dict.fromkeys(ITEMS, "done") | _failed(again), cut
            assert again.recorded == again.heard.statuses
            for turn in second.workers.runs:
                handed[turn.text.removeprefix("run ")] += 1
            for item, result in again.heard.by_item.items():
                assert handed[item] <= result.attempts, "a prompt was handed over twice"
            finished = second.resume(run.group)
            finished.work()
            assert finished.heard.by_item == again.heard.by_item
        finally:
            second.close()
        cut += 1


def _failed(run: Run) -> dict[Any, str]:
    """Items that had failed as often as they may before the crash."""
    return {item: "failed" for item, result in run.heard.by_item.items() if result.status == "failed"}


def _crashed_in_the_middle(stage: Stage) -> tuple[Run, Stage]:
    """A relay that died with *a* done, *b* and *c* running, and two items not begun."""
    run = stage.fan_out(ITEMS, jobs=2, name="my counts")
    stage.settle()
    stage.workers.end(stage.workers.runs[0].turn)
    stage.settle()
    return run, stage.again()


def test_what_was_cut_by_a_crash_starts_again_and_says_so(stage: Stage) -> None:
    run, second = _crashed_in_the_middle(stage)
    again = second.resume(run.group)
    again.work()
    assert again.heard.statuses == dict.fromkeys(ITEMS, "done")
    attempts = {item: result.attempts for item, result in again.heard.by_item.items()}
    assert attempts == {"a": 1, "b": 2, "c": 2, "d": 1, "e": 1}
    assert again.heard.results[0].item == "a"  # what was recorded comes first
    assert sorted(second.workers.texts) == ["run b", "run c", "run d", "run e"]
    second.close()


def test_what_was_cut_is_recorded_as_interrupted_and_not_run_again_when_asked(stage: Stage) -> None:
    run, second = _crashed_in_the_middle(stage)
    again = second.resume(run.group, rerun=False)
    again.work()
    assert again.recorded == {
        "a": "done", "b": "interrupted", "c": "interrupted", "d": "done", "e": "done"
    }  # fmt: skip
    assert sorted(second.workers.texts) == ["run d", "run e"]
    second.close()


def test_to_go_on_with_a_finished_one_gives_the_same_results_and_changes_nothing(stage: Stage) -> None:
    run = stage.fan_out(ITEMS)
    run.work()
    before = stage.read("fanout", group=run.group)
    stage.advance(60)
    batches = stage.store.batches
    again = stage.resume(run.group)
    again.work()
    assert again.heard.by_item == run.heard.by_item
    assert (again.heard.total, again.heard.ends) == (5, [None])
    assert stage.store.batches == batches
    assert stage.read("fanout", group=run.group) == before


def test_the_number_of_jobs_can_be_another_when_it_goes_on(stage: Stage) -> None:
    run, second = _crashed_in_the_middle(stage)
    again = second.resume(run.group, jobs=4)
    again.work()
    assert second.workers.most_open == 4
    assert again.heard.spec is not None
    assert again.heard.spec.jobs == 4
    second.close()


def test_at_the_start_of_a_relay_no_item_runs_before_its_fan_out_goes_on(stage: Stage) -> None:
    stage.store.hold()
    stage.fan_out(["a"])
    stage.settle()
    stage.store.release()
    stage.store.hold()
    stage.settle()
    closing = stage.ask_close()
    stage.settle()
    stage.store.release()
    stage.settle()
    assert closing.done
    assert "start_item" in stage.store.commands
    second = stage.again()
    assert second.read("counts")["queued"] == 1
    assert second.workers.runs == []
    second.close()


def test_there_must_be_such_a_fan_out(stage: Stage) -> None:
    run = stage.resume("grp_000000000000")
    stage.settle()
    assert code_of(run) is Code.UNKNOWN_GROUP
    assert run.heard.total is None


def test_one_that_is_under_way_cannot_be_gone_on_with(stage: Stage) -> None:
    run = stage.fan_out(["a"])
    stage.settle()
    second = stage.resume(run.group)
    stage.settle()
    with pytest.raises(Refusal, match="under way") as refused:
        second.ref.get()
    assert refused.value.code is Code.BUSY
    run.work()
    third = stage.resume(run.group)
    third.work()
    assert third.heard.ends == [None]


def test_what_a_close_cuts_is_not_recorded_even_where_nothing_is_run_again(stage: Stage) -> None:
    run, second = _crashed_in_the_middle(stage)
    again = second.resume(run.group, rerun=False)
    second.settle()
    assert sorted(second.workers.texts) == ["run d", "run e"]
    second.close()
    assert again.heard.statuses["d"] == again.heard.statuses["e"] == "interrupted"
    third = Stage(stage.home)
    finished = third.resume(run.group)
    finished.work()
    assert finished.heard.statuses == {
        "a": "done", "b": "interrupted", "c": "interrupted", "d": "done", "e": "done"
    }  # fmt: skip
    third.close()


def test_the_owners_prompt_in_an_items_session_runs_at_the_start_of_a_relay(stage: Stage) -> None:
    """What was accepted from the owner is not kept back because the session belongs to a fan-out."""
    run = stage.fan_out(["a"])
    stage.settle()
    first = stage.workers.runs[0]
    stage.workers.end(first.turn)
    stage.settle()
    stage.send(first.session, "running")
    stage.send(first.session, "waiting")
    second = stage.again()
    assert run.heard.statuses == {"a": "done"}
    assert second.workers.texts == ["waiting"]
    second.workers.end(second.workers.runs[0].turn)
    second.settle()
    second.close()


def test_recorded_results_are_read_no_faster_than_they_are_taken(stage: Stage) -> None:
    items = [str(n) for n in range(500)]
    stage.workers.on_run = lambda turn: stage.workers.end(turn.turn)
    run = stage.fan_out(items, jobs=50)
    stage.settle()
    assert len(run.recorded) == 500
    again = stage.resume(run.group)
    again.heard.room = 120
    asked = stage.reader.asked.count("fanout_items")
    stage.settle()
    assert len(again.heard.results) == 120
    assert stage.reader.asked.count("fanout_items") == asked + 1, "one page is held at most"
    again.heard.room = 1_000
    again.ref.get().tell(Room())
    stage.settle()
    assert len(again.heard.by_item) == 500
    assert again.heard.ends == [None]


def test_a_listener_without_room_starts_no_further_items_and_does_not_hold_up_a_stop(stage: Stage) -> None:
    run = Run(stage, stage.new_id("grp_"), ITEMS, {"jobs": 2})
    run.heard.room = 1
    stage.settle()
    assert stage.workers.most_open == 2
    for turn in list(stage.workers.open):
        stage.workers.end(turn)
    stage.settle()
    assert len(stage.workers.runs) == 2
    run.stop()
    stage.settle()
    assert set(run.heard.statuses.values()) == {"done", "skipped"}
    assert run.heard.ends == [None]


def test_an_attempt_that_waits_begins_within_its_fan_out_alone_whoever_wakes_its_session(
    open_stage: OpenStage,
) -> None:
    stage = open_stage()
    run = stage.fan_out(["a"], jobs=1, retries=1)
    stage.settle()
    first = stage.workers.runs[0]
    stage.store.refusing = frozenset({"hand_over"})
    stage.workers.end(first.turn, "failed")
    stage.settle()
    again = stage.again()
    owners = again.send(first.session, "a word of the owner")
    assert again.workers.texts == ["a word of the owner"]
    again.workers.end(owners)
    again.settle()
    assert len(again.workers.runs) == 1
    assert again.awake == []
    resumed = again.resume(run.group)
    resumed.work()
    assert resumed.recorded == {"a": "done"}
    assert again.workers.texts == ["a word of the owner", "run a"]
