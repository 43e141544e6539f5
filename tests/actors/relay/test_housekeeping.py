"""What is kept for a time goes when that time is over, and not before."""

from showcaller.actors.contract.settings import Settings
from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted
from showcaller.actors.relay.housekeeping import old_by
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

DAY = 24 * 3600.0


def finished(stage: Stage, client_id: str | None = None) -> None:
    """Have a turn begun and ended, of a prompt that its caller named."""
    assert stage.call("create_session", client_id, text="go", wait_seconds=0)["ok"]
    stage.workers.end(stage.workers.runs[-1].turn)
    stage.settle()


def test_events_and_the_names_of_writes_go_after_a_week(stage: Stage) -> None:
    finished(stage, "the-id")
    stage.advance(7 * DAY - 7200)
    stage.settle()
    assert len(stage.read("events")["events"]) == 2
    assert stage.read("client_call", caller=None, client_id="the-id") is not None
    stage.advance(3 * 3600)
    stage.settle()
    assert stage.read("events") == {"events": [], "next": 2, "gap": 3}
    assert stage.read("client_call", caller=None, client_id="the-id") is None


def test_a_repeat_is_known_for_a_week_over_restarts_and_then_is_a_new_write(stage: Stage) -> None:
    finished(stage, "the-id")
    first = stage.call("create_session", "the-id", text="go", wait_seconds=0)
    stage.advance(7 * DAY - 7200)
    stage = stage.again()
    assert stage.call("create_session", "the-id", text="go", wait_seconds=0)["session"] == first["session"]
    stage.dispatcher.manual_clock.set_wall(stage.dispatcher.manual_clock.wall() + 7 * 24 * 3600 * 1000)
    stage.advance(3601)
    stage.settle()
    assert stage.call("create_session", "the-id", text="go", wait_seconds=0)["session"] != first["session"]


def test_a_log_that_grows_long_loses_its_oldest_events_and_a_reader_behind_is_told(
    open_stage: OpenStage,
) -> None:
    stage = open_stage(settings=Settings(log_events=1_000))
    for _ in range(502):
        finished(stage)
    assert stage.read("events", since=4)["gap"] is None
    stage.advance(61)
    stage.settle()
    behind = stage.read("events", since=3, limit=1)
    assert (behind["gap"], behind["events"][0]["cursor"], behind["next"]) == (5, 5, 5)
    assert stage.read("events", since=4, limit=1)["gap"] is None
    assert len(stage.read("events", since=0, limit=2_000)["events"]) == 1_000
    assert stage.again().read("events", since=0, limit=1)["gap"] == 5


def test_the_output_of_a_task_goes_an_hour_after_its_end_and_not_while_it_runs(stage: Stage) -> None:
    session, _ = stage.create()
    for name in ("ends", "runs"):
        stage.workers.say(TaskStarted(session=session, task=name, type="command", description=name))
        stage.workers.say(TaskOutput(session=session, task=name, text="all passed"))
    stage.workers.say(TaskEnded(session=session, task="ends", outcome="done"))
    stage.settle()
    running, ended = sorted(stage.read("tasks", session=session), key=lambda task: task["ended_at"] or 0)
    stage.advance(3500)
    assert stage.read("task", session=session, task=ended["id"])["tail"] == "all passed"
    stage.advance(3700)
    stage.settle()
    assert not stage.read("task", session=session, task=ended["id"])["tail"]
    shown = stage.call("read_task_output", session=session, task_id=running["id"])
    assert shown["tail"] == ["all passed"]


def test_a_relay_that_closes_does_not_wait_for_its_next_round(stage: Stage) -> None:
    stage.create()
    stage.close()
    assert stage.dispatcher.clock.monotonic() < 60


def test_a_relay_that_only_looks_tidies_nothing_up(open_stage: OpenStage) -> None:
    finished(open_stage())
    looking = open_stage(read_only=True)
    looking.advance(30 * DAY)
    assert len(looking.read("events")["events"]) == 2


def test_a_start_is_not_held_up_and_a_short_lived_relay_tidies_up_too(stage: Stage) -> None:
    assert "prune_events" not in stage.store.commands
    stage.advance(61)
    stage.settle()
    assert stage.store.commands[-5:] == [
        "prune_events",
        "prune_client_ids",
        "prune_tasks",
        "prune_subscriptions",
        "prune_deliveries",
    ]


def test_tidying_up_that_failed_is_tried_again_in_an_hour(stage: Stage) -> None:
    finished(stage)
    stage.store.refusing = frozenset({"prune_events"})
    stage.advance(8 * DAY)
    stage.settle()
    assert len(stage.read("events")["events"]) == 2
    stage.store.refusing = frozenset()
    stage.advance(3601)
    stage.settle()
    assert stage.read("events")["events"] == []


def test_the_owner_says_for_how_long_the_log_is_kept() -> None:
    settings = Settings(log_days=2, log_events=5000)
    day = 24 * 3600 * 1000
    assert old_by(10 * day, settings) == [
        ("prune_events", {"before": 8 * day, "keep": 5000}),
        ("prune_client_ids", {"before": 3 * day}),
        ("prune_tasks", {"before": 10 * day - 3600 * 1000}),
        ("prune_subscriptions", {"before": 10 * day - 3600 * 1000}),
        ("prune_deliveries", {"before": 8 * day}),
    ]
