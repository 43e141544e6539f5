"""The local door: what it refuses by itself, and fan-outs as a program sees them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.store.errors import StoreDamaged
from showcaller.transport.doors.local_fanout import LocalFanout
from tests.actors.relay.stage import Stage, spec_of


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.drop()


def finish(stage: Stage, run: LocalFanout) -> dict[Any, str]:
    """Let every item of a run end; gives how."""
    stage.settle()
    while stage.workers.open:
        stage.workers.end(next(iter(stage.workers.open)))
        stage.settle()
    return {result.item: result.status for result in run.results()}


def start(stage: Stage, items: list[Any], **spec: Any) -> LocalFanout:
    """Start a fan-out as a program does; what it waits for runs meanwhile."""
    with stage.dispatcher:
        run = stage.door.start_fanout(spec_of(stage.home, **spec), items)
    stage.settle()
    return run


def resume(stage: Stage, group: str, jobs: int | None = None) -> LocalFanout:
    """Go on with a fan-out as a program does."""
    with stage.dispatcher:
        return stage.door.resume_fanout(group, rerun=True, jobs=jobs)


def test_a_run_tells_its_name_its_total_and_how_far_it_is(stage: Stage) -> None:
    run = start(stage, ["a", "b", "c"], name="counts", jobs=2)
    assert (run.name, run.total, run.spec.jobs) == ("counts", 3, 2)
    assert (run.started, run.running) == (2, 2)
    assert finish(stage, run) == dict.fromkeys("abc", "done")
    assert (run.started, run.running) == (3, 0)


def test_too_short_a_part_of_its_id_finds_no_run(stage: Stage) -> None:
    run = start(stage, ["a"], name="counts")
    finish(stage, run)
    for part in (run.group[:9], run.group[4:9], run.group[4], "grp_"):
        with pytest.raises(Refusal) as refused:
            resume(stage, part)
        assert refused.value.code == Code.UNKNOWN_GROUP


def test_a_run_without_a_name_gets_one_that_finds_it_again(stage: Stage) -> None:
    run = start(stage, ["a"])
    finish(stage, run)
    assert run.name == f"fanout-{run.group[4:10]}"
    for name in (run.name, run.group, run.group[:10], run.group[4:10]):
        again = resume(stage, name)
        assert again.group == run.group
        assert finish(stage, again) == {"a": "done"}


def test_results_asked_for_twice_come_once_and_nothing_hangs(stage: Stage) -> None:
    run = start(stage, ["a"])
    assert finish(stage, run) == {"a": "done"}
    assert list(run.results()) == []


def test_stopping_twice_or_after_the_end_is_harmless(stage: Stage) -> None:
    run = start(stage, ["a", "b"], jobs=1)
    run.stop()
    run.stop()
    assert finish(stage, run) == {"a": "interrupted", "b": "skipped"}
    run.stop()


def test_what_kept_a_fan_out_from_beginning_is_raised(stage: Stage) -> None:
    stage.store.refusing = frozenset({"start_fanout"})
    with pytest.raises(Refusal, match="disk is full") as refused:
        start(stage, ["a"])
    assert refused.value.code is Code.STORAGE


def test_what_ends_it_early_is_raised_after_the_results_so_far(stage: Stage) -> None:
    run = start(stage, ["a", "b"], jobs=1)
    stage.workers.end(stage.workers.runs[0].turn)
    stage.settle()
    stage.store.refusing = frozenset({"record_item"})
    stage.workers.end(stage.workers.runs[1].turn)
    stage.settle()
    seen: list[Any] = []
    with pytest.raises(Refusal, match="disk is full"):
        seen.extend(result.item for result in run.results())
    assert seen == ["a"]
    stage.store.refusing = frozenset()
    assert finish(stage, resume(stage, run.group)) == {"a": "done", "b": "done"}


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("a\0b", "NUL"),
        ("\udcff", "surrogate"),
        ({1, 2}, "JSON has no form"),
        ({1: 2}, "names that are texts"),
        (float("nan"), "number"),
        (2**64, "64 bits"),
    ],
)
def test_an_item_that_no_prompt_can_be_made_of_refuses_the_whole(stage: Stage, item: Any, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        start(stage, ["fine", item])
    assert refused.value.code is Code.INVALID_INPUT
    assert refused.value.fields["item_number"] == 2
    assert "Nothing was started" in refused.value.error
    assert stage.read("counts")["fanouts"] == 0


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (None, "NoneType came"),
        ({"kind": "command"}, "dict came"),
        ({"jobs": 0}, "jobs"),
        ({"cwd": "here"}, "absolute"),
        ({"template": "echo"}, "none of"),
    ],
)
def test_a_specification_that_is_none_or_was_changed_into_none_is_a_refusal(
    stage: Stage, bad: Any, why: str
) -> None:
    changes = isinstance(bad, dict) and "kind" not in bad
    spec: Any = spec_of(stage.home).model_copy(update=bad) if changes else bad
    with pytest.raises(Refusal, match=why), stage.dispatcher:
        stage.door.start_fanout(spec, ["a"])
    assert stage.read("counts")["fanouts"] == 0


def test_items_may_come_from_a_generator_and_what_is_no_list_is_a_refusal(stage: Stage) -> None:
    items: Any = (item for item in "ab")
    assert finish(stage, start(stage, items)) == {"a": "done", "b": "done"}
    nothing: Any = None
    with pytest.raises(Refusal, match="are a list; NoneType came"), stage.dispatcher:
        stage.door.start_fanout(spec_of(stage.home), nothing)


def test_a_run_is_its_results_to_whoever_iterates_over_it(stage: Stage) -> None:
    run = start(stage, ["a"])
    stage.workers.end(next(iter(stage.workers.open)))
    stage.settle()
    assert [(result.item, result.status) for result in run] == [("a", "done")]


@pytest.mark.parametrize("group", ["grp_nothing", "nothing", "", "a\nb", "\udcff", "x" * 10_000])
def test_a_fan_out_that_is_not_there_is_refused_with_those_that_are(stage: Stage, group: str) -> None:
    run = start(stage, ["a"])
    with pytest.raises(Refusal, match="no fan-out") as refused:
        resume(stage, group)
    assert refused.value.code is Code.UNKNOWN_GROUP
    assert [listed["group"] for listed in refused.value.fields["groups"]] == [run.group]


def test_a_name_that_several_have_is_refused_with_their_ids(stage: Stage) -> None:
    runs = [start(stage, ["a"], name="twice") for _ in range(2)]
    for run in runs:
        finish(stage, run)
    with pytest.raises(Refusal, match="several fan-outs") as refused:
        resume(stage, "twice")
    assert {group["id"] for group in refused.value.fields["groups"]} == {run.group for run in runs}
    assert all(run.group in refused.value.error for run in runs)
    assert resume(stage, runs[0].group).name == "twice"


@pytest.mark.parametrize("jobs", [0, -1])
def test_a_run_needs_a_job(stage: Stage, jobs: int) -> None:
    with pytest.raises(Refusal, match="give 1 or more"):
        resume(stage, "grp_any", jobs=jobs)


def test_a_store_that_cannot_be_read_is_a_refusal_that_names_it(stage: Stage) -> None:
    stage.reader.failing["find_group"] = StoreDamaged("relay.db", "its content is damaged")
    stage.reader.failing["last_fanouts"] = StoreDamaged("relay.db", "its content is damaged")
    with pytest.raises(Refusal, match=r"relay\.db") as refused:
        resume(stage, "grp_any")
    assert refused.value.code is Code.STORAGE
    with pytest.raises(Refusal, match=r"relay\.db"):
        stage.door.list_fanouts()


def test_fan_outs_are_listed_newest_first(stage: Stage) -> None:
    for name in ("first", "second"):
        finish(stage, start(stage, ["a", "b"], name=name))
        stage.advance(1)
    listed = stage.door.list_fanouts()
    assert [(row["name"], row["items"], row["ended"], row["notDone"], row["state"]) for row in listed] == [
        ("second", 2, 2, 0, "ended"),
        ("first", 2, 2, 0, "ended"),
    ]
    start(stage, ["a", "b"], name="third")
    assert (stage.door.list_fanouts()[0]["name"], stage.door.list_fanouts()[0]["state"]) == (
        "third",
        "unfinished",
    )
    assert listed[0]["createdAt"] == "2026-01-01T00:00:01.000Z"


def test_a_call_of_an_agent_or_the_owner_gives_a_result_and_never_raises(stage: Stage) -> None:
    with stage.dispatcher:
        assert stage.door.call({"action": "list_sessions", "relay": "this"})["ok"] is True
        assert stage.door.call("nonsense")["ok"] is False


@pytest.mark.parametrize("group", [None, 5, b"x", ["x"]])
def test_a_fanout_that_is_named_by_no_text_is_refused(stage: Stage, group: Any) -> None:
    with pytest.raises(Refusal, match="named by text") as refused:
        resume(stage, group)
    assert refused.value.code is Code.INVALID_INPUT
