"""Fan-outs: bounds, retries, one result per item, and stops in every phase."""

from collections import Counter
from typing import Any

import pytest

from showcaller.actors.contract.worker import RunTurn
from showcaller.actors.relay.fanout_pages import PAGE
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Run, Stage

ITEMS = ["a", "b", "c", "d", "e"]


def test_every_item_runs_once_within_the_bound_and_is_recorded_once(stage: Stage) -> None:
    run = stage.fan_out(ITEMS, jobs=2)
    run.work()
    assert run.heard.statuses == dict.fromkeys(ITEMS, "done")
    assert run.recorded == dict.fromkeys(ITEMS, "done")
    assert stage.workers.most_open == 2
    assert sorted(stage.workers.texts) == [f"run {item}" for item in ITEMS]
    assert run.heard.ends == [None]
    assert stage.awake == []
    result = run.heard.by_item["a"]
    assert (result.exit_code, result.reply, result.seconds, result.attempts) == (0, "run a", 0.5, 1)
    assert result.session in {row["id"] for row in stage.read("list_sessions")["sessions"]}
    assert stage.read("fanout", group=run.group)["finished_at"] is not None


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_holds_in_every_order_of_things(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    run = stage.fan_out([str(n) for n in range(30)], jobs=3, retries=1)
    run.work(lambda turn: {"outcome": stage.random.choice(["done", "failed"])})
    assert stage.workers.most_open == 3
    assert max(running for _, running in run.heard.moves) <= 3
    assert run.heard.moves[-1] == (30, 0)
    assert len(run.heard.by_item) == 30
    assert run.recorded == run.heard.statuses


def test_a_failed_item_is_tried_again_as_often_as_asked_in_the_same_session(stage: Stage) -> None:
    failing = {"b": 1, "c": 9}

    def end(turn: RunTurn) -> dict[str, Any]:
        item = turn.text.removeprefix("run ")
        failing[item] = failing.get(item, 0) - 1
        return {} if failing[item] < 0 else {"outcome": "failed", "exit_code": 7}

    run = stage.fan_out(["a", "b", "c"], retries=2)
    run.work(end)
    assert run.heard.statuses == {"a": "done", "b": "done", "c": "failed"}
    assert {item: result.attempts for item, result in run.heard.by_item.items()} == {"a": 1, "b": 2, "c": 3}
    assert run.heard.by_item["c"].exit_code == 7
    sessions = Counter(turn.session for turn in stage.workers.runs)
    assert sorted(sessions.values()) == [1, 2, 3]
    assert run.heard.moves[-1] == (3, 0)


def test_the_time_limit_and_the_folder_go_with_every_attempt(stage: Stage) -> None:
    stage.fan_out(["a"], timeout=12.5).work()
    assert (stage.workers.runs[0].timeout, stage.workers.runs[0].cwd) == (12.5, str(stage.home))


def test_a_callable_gets_the_item_as_the_json_value_that_it_is(stage: Stage) -> None:
    item = {"n": [1, None, "ü"]}
    run = stage.fan_out([item, "text"], kind="callable", template="mymodule:work")
    stage.settle()
    assert [(turn.provider, turn.item) for turn in stage.workers.runs] == [
        ("callable:mymodule:work", item),
        ("callable:mymodule:work", "text"),
    ]
    for turn in list(stage.workers.open):
        stage.workers.end(turn)
    stage.settle()
    assert [result.item for result in run.heard.results] == [item, "text"]


def test_an_item_that_somebody_stops_is_recorded_as_stopped(stage: Stage) -> None:
    run = stage.fan_out(["a", "b"], jobs=1)
    stage.settle()
    stage.stop(stage.workers.runs[0].session)
    run.work()
    assert run.recorded == {"a": "stopped", "b": "done"}


def test_an_item_that_is_cut_in_a_live_run_is_left_for_a_later_one(open_stage: OpenStage) -> None:
    stage = open_stage()
    run = stage.fan_out(["a", "b"])
    run.work(lambda turn: {"outcome": "failed", "stop_reason": "interrupted"} if "a" in turn.text else {})
    assert run.heard.statuses == {"a": "interrupted", "b": "done"}
    assert run.recorded == {"a": None, "b": "done"}
    assert stage.read("fanout", group=run.group)["finished_at"] is None
    again = stage.resume(run.group)
    again.work()
    assert again.heard.statuses == {"a": "done", "b": "done"}
    assert again.heard.by_item["a"].attempts == 2


# -- stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_stopped_in_any_phase_it_reports_every_item_once_and_a_later_run_finishes_it(
    open_stage: OpenStage, seed: int
) -> None:
    stage = open_stage(seed)
    stage.workers.obedient = stage.random.random() < 0.5
    run = stage.fan_out(ITEMS, jobs=2, retries=1)
    for _ in range(stage.random.randrange(120)):
        stage.dispatcher.step()
        if stage.workers.open and stage.random.random() < 0.2:
            outcome = stage.random.choice(["done", "failed"])
            stage.workers.end(stage.random.choice(sorted(stage.workers.open)), outcome)
    if not run.ref.done:
        stage.settle()
    _stop_if_alive(run)
    _stop_if_alive(run)
    run.work(lambda turn: {"outcome": "stopped"} if turn.turn in _stopped(stage) else {})
    assert run.heard.ends == [None]
    assert len(run.heard.by_item) == len(ITEMS)
    for item, status in run.heard.statuses.items():
        assert run.recorded[item] in {None, status}
        if status in {"interrupted", "skipped"}:
            assert run.recorded[item] is None
    again = stage.resume(run.group)
    again.work()
    assert set(again.heard.statuses.values()) <= {"done", "failed"}
    assert again.recorded == again.heard.statuses
    _nothing_ran_twice(stage, again)


def _stop_if_alive(run: Run) -> None:
    if run.ref.get().is_alive():
        run.stop()


def _stopped(stage: Stage) -> set[str]:
    return {stop.turn for stop in stage.workers.stops}


def _nothing_ran_twice(stage: Stage, run: Run) -> None:
    """As many turns were handed over as the attempts say, or fewer: one that was taken back ran later."""
    ran = Counter(turn.text.removeprefix("run ") for turn in stage.workers.runs)
    assert len({turn.turn for turn in stage.workers.runs}) == len(stage.workers.runs)
    for item, result in run.heard.by_item.items():
        assert ran[item] <= result.attempts


def test_what_never_started_is_skipped_and_what_ran_is_interrupted(stage: Stage) -> None:
    run = stage.fan_out(ITEMS, jobs=2)
    stage.settle()
    stage.workers.end(stage.workers.runs[0].turn)
    stage.settle()
    run.stop()
    run.work()
    assert run.heard.statuses == {
        "a": "done", "b": "interrupted", "c": "interrupted", "d": "skipped", "e": "skipped"
    }  # fmt: skip
    skipped = run.heard.by_item["d"]
    assert (skipped.session, skipped.attempts) == (None, 0)
    assert stage.awake == []


def test_an_item_whose_prompt_was_being_stored_when_the_stop_came_never_starts(stage: Stage) -> None:
    run = stage.fan_out(["a"])
    while "start_fanout" not in stage.store.commands or "fanout_items" not in stage.reader.asked:
        stage.dispatcher.step()
    stage.store.hold()
    stage.settle()
    run.stop()
    stage.settle()
    assert run.heard.results == []
    stage.store.release()
    stage.settle()
    assert run.heard.statuses == {"a": "skipped"}
    assert stage.workers.runs == []
    again = stage.resume(run.group)
    again.work()
    assert (again.heard.by_item["a"].status, again.heard.by_item["a"].attempts) == ("done", 1)


def test_a_stop_waits_for_no_other_message_in_front_of_its_own(stage: Stage) -> None:
    """The owner prompted the session of an item; the item's retry waits behind that prompt."""
    run = stage.fan_out(["a"], retries=1)
    stage.settle()
    first = stage.workers.runs[0]
    owners = stage.send(first.session, "the owner's own")
    stage.workers.end(first.turn, "failed")
    stage.settle()
    assert list(stage.workers.open) == [owners]
    run.stop()
    stage.settle()
    assert run.heard.statuses == {"a": "interrupted"}
    assert run.heard.ends == [None]
    assert list(stage.workers.open) == [owners], "the owner's turn is none of its business"
    later = stage.send(first.session, "the owner's next")
    stage.workers.end(owners)
    stage.settle()
    assert list(stage.workers.open) == [later], "nor does it hold what the owner sends"
    again = stage.resume(run.group)
    stage.settle()
    stage.workers.end(later)
    again.work()
    assert again.heard.statuses == {"a": "done"}


# -- many ------------------------------------------------------------------------------------------


def test_ten_thousand_items_take_work_in_proportion_and_bounded_memory(stage: Stage) -> None:
    """Counted in steps of the dispatcher and in what the actor holds, for 250 and for 1,000 of them."""
    stage.workers.on_run = lambda turn: stage.workers.end(turn.turn)
    steps: dict[int, int] = {}
    for count in (250, 1_000):
        before = stage.dispatcher.steps
        run = stage.fan_out([str(n) for n in range(count)], jobs=50)
        most = 0
        while stage.dispatcher.step():
            actor: Any = run.ref.done and run.ref.get()._actor
            most = max(most, len(actor._pages._rows) + len(actor._by_message) if actor else 0)
        assert len(run.heard.by_item) == count
        assert 0 < most <= PAGE + 50
        steps[count] = stage.dispatcher.steps - before
    assert steps[1_000] < 5 * steps[250]
