"""Fan-outs when the store refuses, an item cannot go on, or we make a mistake."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay import turns
from showcaller.actors.relay.acceptance import Acceptance
from showcaller.actors.relay.answers import written
from showcaller.actors.relay.fanout import Fanout
from showcaller.actors.relay.session import Session
from showcaller.actors.relay.turns import Turns
from showcaller.store.errors import StoreDamaged
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Run, Stage

ITEMS = ["a", "b", "c", "d", "e"]


def code_of(run: Run) -> Code:
    (error,) = run.heard.ends
    assert isinstance(error, Refusal), error
    return error.code


@pytest.mark.parametrize(
    "refusing", ["start_fanout", "start_item", "end_turn", "record_item", "finish_fanout"]
)
def test_a_store_that_refuses_ends_it_with_the_reason_and_it_can_go_on(stage: Stage, refusing: str) -> None:
    stage.store.refusing = frozenset({refusing})
    run = stage.fan_out(["a", "b", "c"], jobs=1)
    run.work()
    assert code_of(run) is Code.STORAGE
    stage.store.refusing = frozenset()
    if refusing == "start_fanout":
        return
    stage.dispatcher.advance(40)  # what a session was refused it tries again by itself
    again = stage.resume(run.group)
    again.work()
    assert again.heard.ends == [None]
    assert again.recorded == dict.fromkeys("abc", "done")
    assert all(result.attempts == 1 for result in again.heard.results)


@pytest.mark.parametrize("seed", range(10))
def test_a_store_that_refuses_while_items_run_leaves_none_running(open_stage: OpenStage, seed: int) -> None:
    stage = open_stage(seed)
    run = stage.fan_out(ITEMS, jobs=3)
    stage.settle()
    stage.store.refusing = frozenset({"record_item"})
    stage.workers.end(stage.workers.runs[0].turn)
    stage.settle()
    assert code_of(run) is Code.STORAGE
    assert stage.workers.open == {}
    stage.store.refusing = frozenset()
    again = stage.resume(run.group)
    again.work()
    assert again.recorded == dict.fromkeys(ITEMS, "done")


@pytest.mark.parametrize("query", ["fanout", "fanout_items", "message"])
def test_a_store_that_cannot_be_read_ends_it_with_the_reason(stage: Stage, query: str) -> None:
    run = stage.fan_out(["a", "b"])
    stage.settle()
    run.stop()
    run.work()
    stage.reader.failing[query] = StoreDamaged("relay.db", "its content is damaged; restore a backup")
    again = stage.resume(run.group)
    stage.settle()
    assert code_of(again) is Code.STORAGE
    assert "relay.db" in str(again.heard.ends[0])


def test_an_item_whose_session_takes_no_more_prompts_fails_alone(stage: Stage) -> None:
    run = stage.fan_out(["a", "b"], jobs=1, retries=1)
    stage.settle()
    first = stage.workers.runs[0]
    stage.store.hold()
    stage.workers.end(first.turn, "failed")
    stage.settle()
    stage.store.release()
    _archive_when_idle(stage, first.session)
    run.work()
    assert run.recorded == {"a": "failed", "b": "done"}
    assert "archived" in (run.heard.by_item["a"].error or "")


def _archive_when_idle(stage: Stage, session: str) -> None:
    """Archive the session the moment that its turn has ended, before the retry comes."""
    actor: Any = stage.supervisor._actor
    with stage.dispatcher:
        done = written(actor._writer, "archive_session", session=session, at=1)
    stage.settle()
    assert done.get().error is None


def test_a_mistake_of_ours_is_told_to_whoever_waits(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stage.fan_out(["a"])
    stage.settle()
    monkeypatch.setattr(run.heard, "result", _break)
    run.work()
    assert code_of(run) is Code.INTERNAL
    caplog.clear()
    again = stage.resume(run.group)
    again.work()
    assert again.heard.statuses == {"a": "done"}


def test_an_item_whose_session_fails_once_is_recorded_all_the_same(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {"_commit_end": Turns, "accepted": Acceptance, "_send_run": Turns, "_begin": Session}
    for method, owner in owners.items():
        with monkeypatch.context() as broken:
            left = [1]
            broken.setattr(owner, method, _failing(getattr(owner, method), left))
            run = stage.fan_out(["a", "b"], jobs=2)
            run.work()
        assert left == [0]
        assert run.heard.ends == [None], method
        ended = {result.status for result in run.heard.results}
        assert ended <= {"done", "interrupted"}
        again = stage.resume(run.group)
        again.work()
        assert again.recorded == {"a": "done", "b": "done"}, method
    caplog.clear()


def test_a_session_that_always_fails_leaves_its_item_and_ends_the_fan_out(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Turns, "_commit_end", _failing(Turns._commit_end, [1_000_000]))
        run = stage.fan_out(["a", "b"], jobs=2)
        run.work()
    assert run.heard.ends == [None]
    assert run.heard.statuses == {"a": "interrupted", "b": "interrupted"}
    assert "again and again" in (run.heard.by_item["a"].error or "")
    caplog.clear()
    stage.resume(run.group).work()  # ends as interrupted what nobody knows to be with a worker
    again = stage.resume(run.group)
    again.work()
    assert again.recorded == {"a": "done", "b": "done"}


def _failing(method: Any, left: list[int]) -> Any:
    def broken(session: object, *arguments: Any) -> Any:
        if left[0]:
            left[0] -= 1
            _break(None)
        return method(session, *arguments)

    return broken


def test_items_that_can_never_be_handed_over_fail_after_their_retries(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("nothing can be made of it")

    monkeypatch.setattr(turns, "run_turn", fail)
    run = stage.fan_out(["a", "b"], jobs=1, retries=1)
    run.work()
    assert run.recorded == {"a": "failed", "b": "failed"}
    assert {result.attempts for result in run.heard.results} == {2}
    assert "never ran" in (run.heard.by_item["a"].error or "")
    caplog.clear()


def test_a_fan_out_that_cannot_even_start_tells_whoever_waits(
    stage: Stage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Fanout, "_set_out", _break)
        run = stage.fan_out(["a"])
        stage.settle()
    assert code_of(run) is Code.INTERNAL
    caplog.clear()
    stage.close()


def _break(_: object) -> None:
    raise ValueError("a listener that fails")


def test_an_item_that_is_no_json_is_refused_and_nothing_is_stored(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    run = stage.fan_out([{1, 2}])
    stage.settle()
    assert len(run.heard.ends) == 1
    assert stage.read("counts")["fanouts"] == 0
    caplog.clear()
