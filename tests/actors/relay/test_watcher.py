"""A conversation that watches is woken by what happens elsewhere: in time, once, and in order."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.actors.relay.calls.agents import Agent, agent, end_turn
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.watch_scene import Scene, open_scene

WINDOW = 30.0
AT_ONCE: dict[str, Any] = {"coalesce_seconds": 0, "wakeups_per_hour": 0}


@pytest.fixture
def scene(open_stage: OpenStage) -> Scene:
    return open_scene(open_stage)


@pytest.fixture
def quick(open_stage: OpenStage) -> Scene:
    """A scene in which nothing gathers."""
    return open_scene(open_stage, **AT_ONCE)


def test_the_end_of_a_turn_wakes_who_watches_when_the_window_ends(scene: Scene) -> None:
    scene.subscribe(scene.sessions[0])
    scene.rest()
    end_turn(scene.stage, scene.sessions[0], reply="all is done")
    scene.stage.advance(WINDOW - 1)
    assert scene.wakings == []
    scene.stage.advance(1)
    (lines,) = scene.wakings
    (line,) = lines
    assert line.startswith('[relay event] session "one" (ses_')
    assert line.endswith(': turn_end (done) "all is done"')
    assert scene.runs[0].environment["SHOWCALLER_ORIGIN"] == "wakeup"


def test_an_urgent_event_leaves_at_once_and_takes_along_what_has_gathered(scene: Scene) -> None:
    scene.subscribe()
    scene.rest()
    end_turn(scene.stage, scene.sessions[0])
    end_turn(scene.stage, scene.sessions[1], outcome="failed", error_text="no disk", stop_reason="died")
    (lines,) = scene.wakings
    assert [line.split("): ")[1].split(" ")[0] for line in lines] == ["error", "turn_end"]


def test_what_happened_before_fires_nothing_and_is_told_by_the_result(quick: Scene) -> None:
    end_turn(quick.stage, quick.sessions[0])
    made = quick.watcher.call("subscribe", sessions=quick.sessions)
    quick.rest()
    told = [(each["id"], each["alreadyIdle"], each.get("lastTurn")) for each in made["sessions"]]
    assert told == [(quick.sessions[0], True, "done"), (quick.sessions[1], False, None)]
    assert quick.wakings == []


def test_a_watcher_in_a_turn_finds_the_wake_up_in_its_queue_and_more_extend_it(quick: Scene) -> None:
    quick.subscribe()
    end_turn(quick.stage, quick.sessions[0], reply="first")
    end_turn(quick.stage, quick.sessions[1], reply="second")
    assert quick.wakings == []
    (text,) = quick.stored
    assert ["first" in text, "second" in text] == [True, True]
    quick.rest()
    assert [run.text for run in quick.runs] == [text]


def test_a_provider_that_steers_gets_it_in_its_turn(open_stage: OpenStage) -> None:
    scene = open_scene(open_stage, "joiner", **AT_ONCE)
    scene.stage.workers.on_steer = lambda steer: scene.stage.workers.answer_steering(steer, accepted=True)
    scene.subscribe()
    end_turn(scene.stage, scene.sessions[0], reply="first")
    (steer,) = scene.stage.workers.steers
    assert 'turn_end (done) "first"' in steer.text


def test_once_ends_with_the_first_event(quick: Scene) -> None:
    name = quick.subscribe(once=True)
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    end_turn(quick.stage, quick.watcher.session)
    end_turn(quick.stage, quick.sessions[1])
    assert len(quick.wakings) == 1
    (ended,) = quick.watcher.call("list_subscriptions")["subscriptions"]
    assert (ended["id"], ended["endReason"]) == (name, "once")


def test_without_names_the_usual_events_come(quick: Scene) -> None:
    made = quick.watcher.call("subscribe", sessions=quick.sessions[:1])
    usual = ["question_asked", "error", "turn_end", "subagent_finished", "task_failed", "stalled", "all_idle"]
    always = ["question_answered", "link_lost", "link_restored"]
    assert set(made["subscription"]["events"]) == {*usual, "archived", *always}
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    (lines,) = quick.wakings
    assert ["turn_end" in lines[0], "all_idle" in lines[1]] == [True, True]


def test_all_idle_is_told_once_when_nothing_is_left_and_again_after_more_work(quick: Scene) -> None:
    name = quick.subscribe(events=["all_idle"])
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == []
    quick.stage.send(quick.sessions[1], "more")
    end_turn(quick.stage, quick.sessions[1])
    assert quick.wakings == []
    end_turn(quick.stage, quick.sessions[1])
    told = (
        f"[relay event] all_idle: no turn or task is running in the 2 watched sessions (subscription {name})"
    )
    assert quick.wakings == [[told]]
    end_turn(quick.stage, quick.watcher.session)
    quick.stage.send(quick.sessions[0], "again")
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == [[told], [told]]


def test_all_idle_of_every_session_leaves_out_the_watcher_and_what_is_excluded(quick: Scene) -> None:
    quick.subscribe("all", events=["all_idle"], exclude=[quick.sessions[1]])
    end_turn(quick.stage, quick.sessions[0])
    quick.rest()
    (lines,) = quick.wakings
    assert "all_idle: no turn or task is running in any watched session" in lines[0]


def test_a_heartbeat_says_what_works_as_long_as_something_does(quick: Scene) -> None:
    name = quick.subscribe(events=["error"], heartbeat_minutes=10)
    quick.rest()
    quick.stage.advance(9 * 60)
    assert quick.wakings == []
    quick.stage.advance(60)
    (lines,) = quick.wakings
    (line,) = lines
    assert line.startswith("[relay event] heartbeat: 2 sessions work: ")
    assert '"one" (ses_' in line
    assert line.endswith(f"(subscription {name})")
    end_turn(quick.stage, quick.watcher.session)
    end_turn(quick.stage, quick.sessions[0])
    quick.stage.advance(10 * 60)
    assert "heartbeat: 1 session works: " in quick.wakings[1][0]
    end_turn(quick.stage, quick.watcher.session)
    end_turn(quick.stage, quick.sessions[1])
    quick.stage.advance(60 * 60)
    assert len(quick.wakings) == 2
    quick.stage.send(quick.sessions[1], "more")
    quick.stage.advance(9 * 60)
    assert len(quick.wakings) == 2
    quick.stage.advance(60)
    assert len(quick.wakings) == 3


def test_no_heartbeat_comes_in_quiet_hours_and_none_for_them_afterwards(quick: Scene) -> None:
    now = datetime.fromtimestamp(quick.stage.ports.clock.wall() / 1000, UTC)
    until = f"{(now + timedelta(minutes=25)).replace(second=0):%H:%M}"
    window = {"from": f"{now:%H:%M}", "to": until, "tz": "UTC"}
    quick.subscribe(events=["error"], heartbeat_minutes=10, quiet_hours=window)
    quick.rest()
    quick.stage.advance(20 * 60)
    assert quick.wakings == []
    quick.stage.advance(10 * 60 + 60)
    assert len(quick.wakings) == 1


def test_all_means_later_ones_too_and_never_the_watchers_own(quick: Scene) -> None:
    quick.subscribe("all")
    quick.rest()
    assert quick.wakings == []
    later, _ = quick.stage.create("later", provider="helper", title="later")
    end_turn(quick.stage, later)
    (lines,) = quick.wakings
    assert '"later"' in lines[0]


def test_what_is_excluded_wakes_nobody(quick: Scene) -> None:
    quick.subscribe("all", exclude=[quick.sessions[0]])
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == []
    end_turn(quick.stage, quick.sessions[1])
    assert len(quick.wakings) == 1


def test_an_event_that_several_subscriptions_take_comes_once(quick: Scene) -> None:
    quick.subscribe()
    quick.subscribe("all")
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert [len(lines) for lines in quick.wakings] == [1]


def test_unsubscribed_wakes_nobody(quick: Scene) -> None:
    name = quick.subscribe()
    assert quick.watcher.call("unsubscribe", subscription_id=name)["unsubscribed"] == [name]
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == []
    assert quick.watcher.call("unsubscribe", subscription_id=name)["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_unsubscribing_from_all_ends_every_one(quick: Scene) -> None:
    names = [quick.subscribe(), quick.subscribe("all")]
    assert set(quick.watcher.call("unsubscribe", subscription_id="all")["unsubscribed"]) == set(names)
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == []
    ended = quick.watcher.call("list_subscriptions")["subscriptions"]
    assert [each["endReason"] for each in ended] == ["unsubscribed", "unsubscribed"]


def test_a_watcher_goes_on_with_the_next_relay_from_where_it_was(scene: Scene) -> None:
    scene.set(agent_sessions=True)  # kept for the next relay
    scene.subscribe()
    scene.rest()
    end_turn(scene.stage, scene.sessions[0], reply="before")
    for seconds in (WINDOW - 1, WINDOW, WINDOW):
        scene.stage = scene.stage.again()
        scene.stage.advance(seconds)
    (text,) = scene.stored
    assert '"before"' in text


def test_what_happens_while_no_watcher_runs_is_told_by_the_next_relay(scene: Scene) -> None:
    scene.set(agent_sessions=True)  # kept for the next relay
    scene.subscribe()
    scene.rest()
    scene.stage.store.refusing = frozenset({"advance_watcher"})
    end_turn(scene.stage, scene.sessions[0], reply="unheard")
    scene.stage = scene.stage.again()
    scene.stage.advance(WINDOW)
    (text,) = scene.stored
    assert '"unheard"' in text


def test_a_full_disk_delays_a_wake_up_and_loses_none(quick: Scene) -> None:
    quick.subscribe()
    quick.rest()
    quick.stage.store.refusing = frozenset({"advance_watcher"})
    end_turn(quick.stage, quick.sessions[0], reply="late")
    assert quick.stored == []
    quick.stage.advance(3)
    assert quick.stored == []
    quick.stage.store.refusing = frozenset()
    quick.stage.advance(60)
    (text,) = quick.stored
    assert '"late"' in text
    assert len(quick.wakings) == 1


def test_nothing_leaves_while_agents_may_not_use_sessions(quick: Scene) -> None:
    quick.subscribe(heartbeat_minutes=10)
    quick.rest()
    quick.set(agent_sessions=False)
    end_turn(quick.stage, quick.sessions[0], reply="held")
    quick.stage.advance(3600)
    assert quick.stored == []
    quick.set(agent_sessions=True)
    assert '"held"' in quick.stored[0]
    assert len(quick.stored) == len(quick.wakings) == 1


def test_a_shorter_window_counts_at_once(scene: Scene) -> None:
    scene.subscribe()
    scene.rest()
    end_turn(scene.stage, scene.sessions[0])
    scene.set(coalesce_seconds=0)
    assert len(scene.wakings) == 1


def test_an_archived_watcher_is_woken_no_more(quick: Scene) -> None:
    quick.subscribe()
    quick.rest()
    assert quick.stage.call("archive", session=quick.watcher.session)["ok"]
    end_turn(quick.stage, quick.sessions[0])
    quick.stage.advance(120)
    assert quick.stored == []


def test_a_subscription_ends_when_all_that_it_watches_is_put_away(quick: Scene) -> None:
    name = quick.subscribe(quick.sessions[0])
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    quick.stage.workers.end(quick.runs[-1].turn)
    quick.stage.settle()
    assert quick.stage.call("archive", session=quick.sessions[0])["ok"]
    assert "archived" in quick.stored[-1]
    (ended,) = quick.watcher.call("list_subscriptions")["subscriptions"]
    assert (ended["id"], ended["endReason"]) == (name, "archived")


def test_events_that_are_held_are_listed_with_their_time(scene: Scene) -> None:
    scene.subscribe(digest_minutes=30)
    scene.rest()
    end_turn(scene.stage, scene.sessions[0])
    (held,) = scene.watcher.call("list_subscriptions")["subscriptions"]
    assert held["heldCount"] == 1
    assert held["nextDeliveryAt"] is not None
    scene.stage.advance(30 * 60)
    (freed,) = scene.watcher.call("list_subscriptions")["subscriptions"]
    assert (freed["heldCount"], freed["nextDeliveryAt"]) == (0, None)
    assert len(scene.wakings) == 1


def test_the_owner_sees_who_watches_what_and_can_end_it(quick: Scene) -> None:
    name = quick.subscribe()
    other = agent(quick.stage, "other", provider="watcher", title="other")
    assert other.call("subscribe", sessions=["all"])["ok"]
    listed = quick.stage.call("list_subscriptions")["subscriptions"]
    assert {each["watcher"]["title"] for each in listed} == {"watch", "other"}
    assert quick.stage.call("unsubscribe", subscription_id=name)["unsubscribed"] == [name]
    (ended,) = quick.watcher.call("list_subscriptions")["subscriptions"]
    assert (ended["id"], ended["endReason"]) == (name, "by_owner")
    quick.rest()
    end_turn(quick.stage, quick.sessions[0])
    assert quick.wakings == []
    refused = quick.stage.call("unsubscribe", subscription_id="all")
    assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"


def test_the_owner_and_a_session_of_command_lines_hold_none(quick: Scene) -> None:
    assert quick.stage.call("subscribe", sessions=["all"])["code"] == "REMOTE_RELAY_INVALID_INPUT"
    shell = Agent(quick.stage, quick.stage.create("true", provider="command")[0])
    refused = shell.call("subscribe", sessions=["all"])
    assert refused["code"] == "REMOTE_RELAY_INVALID_INPUT"
    assert "command lines" in refused["error"]


def test_one_unknown_session_refuses_the_whole(quick: Scene) -> None:
    refused = quick.watcher.call("subscribe", sessions=[quick.sessions[0], "ses_zzzzzzzzzzzz"])
    assert (refused["code"], refused["missing"]) == ("REMOTE_RELAY_NOT_FOUND", ["ses_zzzzzzzzzzzz"])
    assert quick.watcher.call("list_subscriptions")["subscriptions"] == []


def test_twenty_are_as_many_as_a_conversation_holds(quick: Scene) -> None:
    for _ in range(20):
        quick.subscribe()
    refused = quick.watcher.call("subscribe", sessions=quick.sessions)
    assert refused["code"] == "REMOTE_RELAY_SUBSCRIPTION_LIMIT"


def test_a_repeat_of_a_named_subscribe_makes_no_second(quick: Scene) -> None:
    first = quick.watcher.call("subscribe", "mine", sessions=quick.sessions)
    again = quick.watcher.call("subscribe", "mine", sessions=quick.sessions)
    assert again["subscription_id"] == first["subscription_id"]
    assert len(quick.watcher.call("list_subscriptions")["subscriptions"]) == 1
