"""External conversations: their turn is the time in which they call, and messages come with their calls."""

from typing import Any

import pytest

from showcaller.actors.relay.calls.inbox import WAITED
from showcaller.actors.relay.calls.patience import BARE_GO_ON
from tests.actors.relay.calls.agents import OPEN, PROVIDERS, agent, end_turn, open_to_agents
from tests.actors.relay.calls.external import Client, client, texts
from tests.actors.relay.calls.test_stopping import act
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage


@pytest.fixture
def stage(open_stage: OpenStage) -> Stage:
    return open_to_agents(open_stage)


@pytest.fixture
def laptop(stage: Stage) -> Client:
    return client(stage)


# -- the turn --------------------------------------------------------------------------------------


def test_its_turn_runs_while_one_of_its_calls_is_under_way(stage: Stage, laptop: Client) -> None:
    assert laptop.state() == "idle"
    first = laptop.begin("wait", wait_seconds=60)
    second = laptop.begin("wait", wait_seconds=90)
    stage.settle()
    assert laptop.state() == "running_turn"
    active = stage.call("list_sessions", scope="active")["sessions"]
    assert [row["id"] for row in active] == [laptop.session]
    assert active[0]["process"] == "none"
    stage.advance(60)
    assert (first.done, second.done, laptop.state()) == (True, False, "running_turn")
    stage.advance(30)
    assert (second.done, laptop.state()) == (True, "idle")
    assert stage.call("list_sessions", scope="active")["sessions"] == []


def test_members_of_its_group_are_shown_that_its_turn_runs(stage: Stage, laptop: Client) -> None:
    started = laptop.call("create_session", provider="helper", text="help", wait_seconds=0)
    laptop.begin("wait", wait_seconds=60)
    stage.settle()
    (head,) = stage.call("read_session", session=started["session"])["group"]["members"]
    assert (head["id"], head["state"]) == (laptop.session, "running_turn")


def test_after_a_restart_nothing_of_it_runs(stage: Stage, laptop: Client) -> None:
    laptop.begin("wait", wait_seconds=60)
    stage.settle()
    again = stage.again()
    assert laptop.on(again).state() == "idle"


def test_a_stop_ends_its_calls_and_what_waits_stays(stage: Stage, laptop: Client) -> None:
    other, _ = stage.create(provider="helper")
    message = stage.workers.runs[-1].turn
    waiting = laptop.begin("wait", session=other, message_id=message, wait_seconds=60)
    stage.settle()
    assert stage.call("stop", session=laptop.session)["stopRequested"]
    assert waiting.get()["code"] == "REMOTE_RELAY_CANCELLED"
    assert laptop.state() == "idle"
    assert not stage.call("stop", session=laptop.session)["stopRequested"]


def test_it_is_put_away_only_when_none_of_its_calls_is_under_way(stage: Stage, laptop: Client) -> None:
    waiting = laptop.begin("wait", wait_seconds=60)
    stage.settle()
    assert stage.call("archive", session=laptop.session)["code"] == "REMOTE_RELAY_BUSY"
    stage.call("stop", session=laptop.session)
    assert waiting.done
    sent = stage.send(laptop.session, "never read")
    assert stage.call("archive", session=laptop.session)["ok"]
    assert stage.status(sent) == "cancelled"


# -- messages for it -------------------------------------------------------------------------------


def test_a_send_stays_queued_and_says_so_and_no_worker_ever_has_it(stage: Stage, laptop: Client) -> None:
    sent = stage.call("send", session=laptop.session, text="hello", wait_seconds=0)
    assert sent["status"] == "queued"
    assert "cannot be prompted into action" in sent["note"]
    waited = stage.call("wait", session=laptop.session, message_id=sent["message_id"], wait_seconds=0)
    assert (waited["status"], waited["note"]) == ("queued", sent["note"])
    again = stage.again()
    assert again.workers.runs == []
    assert again.status(sent["message_id"]) == "queued"
    assert laptop.session not in again.awake, "what waits for it keeps nobody awake"


def test_messages_come_in_order_with_its_next_call_and_once(stage: Stage, laptop: Client) -> None:
    ids = [stage.send(laptop.session, text) for text in ("one", "two")]
    result = laptop.call("list_relays")
    assert [message["id"] for message in result["messages"]] == ids
    assert texts(result) == ["one", "two"]
    assert {message["origin"] for message in result["messages"]} == {"owner"}
    assert [stage.status(each) for each in ids] == ["queued", "queued"], "its next call confirms them"
    stage.send(laptop.session, "three")
    assert laptop.texts() == ["three"]
    assert [stage.status(each) for each in ids] == ["done", "done"]
    assert "messages" not in laptop.call("list_relays")
    kinds = [kind for kind, message in stage.events(laptop.session) if message == ids[0]]
    assert kinds == ["turn_started", "turn_end"]


def test_they_come_with_a_refusal_too_and_say_which_agent_has_sent_them(stage: Stage, laptop: Client) -> None:
    sender = agent(stage)
    sender.call("send", session=laptop.session, text="from an agent", wait_seconds=0)
    refused = laptop.call("read_session", session="ses_zzzzzzzzzzzz")
    assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"
    assert "messages" not in refused, "what would have been a reading only counts them"
    refused = laptop.call("send", session="ses_zzzzzzzzzzzz", text="x")
    assert refused["code"] == "REMOTE_RELAY_NOT_FOUND"
    (message,) = refused["messages"]
    assert (message["origin"], message["via"]) == ("agent", 'agent · "work"')


def test_a_reading_whose_own_messages_they_would_hide_only_counts_them(stage: Stage, laptop: Client) -> None:
    stage.send(laptop.session, "one")
    read = laptop.call("read_session", session=laptop.session)
    assert [message["text"] for message in read["messages"]] == ["one"]
    assert "1 message for you" in read["note"]
    assert laptop.texts() == ["one"]


def test_a_repeat_under_the_same_id_gets_the_same_and_confirms_nothing(stage: Stage, laptop: Client) -> None:
    sent = stage.send(laptop.session, "one")
    assert laptop.texts("c1") == ["one"]
    assert laptop.texts("c1") == ["one"], "the first answer may have been lost"
    assert stage.status(sent) == "queued"
    assert laptop.texts("c2") == []
    assert stage.status(sent) == "done"
    assert laptop.texts("c1") == []


def test_a_relay_that_dies_before_they_are_confirmed_gives_them_again(stage: Stage, laptop: Client) -> None:
    sent = stage.send(laptop.session, "one")
    (first,) = laptop.call()["messages"]
    again = open_again(stage)
    (second,) = laptop.on(again).call()["messages"]
    assert first == second, "at least once, under the same id"
    assert laptop.on(again).texts() == []
    assert again.status(sent) == "done"
    third = open_again(again)
    assert laptop.on(third).texts() == []


@pytest.mark.parametrize("commits", [True, False])
def test_a_relay_that_dies_while_they_are_confirmed_loses_none(
    stage: Stage, laptop: Client, commits: bool
) -> None:
    stage.send(laptop.session, "one")
    assert laptop.texts() == ["one"]
    stage.store.crash_at, stage.store.crash_commits = stage.store.batches + 1, commits
    lost = laptop.begin("list_relays")
    stage.settle()
    assert not lost.done
    assert laptop.on(open_again(stage)).texts() == ([] if commits else ["one"])


def test_what_cannot_be_confirmed_is_confirmed_by_the_call_after(stage: Stage, laptop: Client) -> None:
    sent = stage.send(laptop.session, "one")
    laptop.call()
    stage.store.refusing = frozenset({"take_messages"})
    assert laptop.call()["ok"]
    assert stage.status(sent) == "queued"
    stage.store.refusing = frozenset()
    assert laptop.texts() == []
    assert stage.status(sent) == "done"


def test_a_bare_wait_says_what_it_waited_for(stage: Stage, laptop: Client) -> None:
    nothing = laptop.call("wait", wait_seconds=0)
    assert nothing["note"] == WAITED
    assert nothing["summary"] == "wait: nothing came"
    stage.send(laptop.session, "one")
    one = laptop.call("wait", wait_seconds=60)
    assert (texts(one), one["note"], one["summary"]) == (["one"], WAITED, "wait: 1 message")


def test_a_bare_wait_of_an_impatient_client_says_how_to_go_on(stage: Stage, laptop: Client) -> None:
    call = {"action": "wait", "relay": "this", "wait_seconds": 95}
    cut = stage.door._begin(call, laptop.caller, None, 44)
    stage.settle()
    stage.advance(45)
    assert cut.get()["note"] == f"{WAITED} {BARE_GO_ON}"
    told = stage.door._begin(call, laptop.caller, None, 44)
    stage.settle()
    stage.send(laptop.session, "one")
    assert (texts(told.get()), told.get()["note"]) == (["one"], WAITED)


def test_two_calls_at_once_do_not_both_get_a_message(stage: Stage, laptop: Client) -> None:
    calls = [laptop.begin("wait", wait_seconds=60) for _ in range(2)]
    stage.settle()
    stage.send(laptop.session, "one")
    got = [texts(call.get()) for call in calls if call.done]
    stage.advance(60)
    assert got.count(["one"]) == 1
    assert sorted(texts(call.get()) for call in calls) == [[], ["one"]]


def test_what_was_confirmed_while_a_call_read_is_not_in_its_answer(stage: Stage, laptop: Client) -> None:
    waiting = laptop.begin("wait", wait_seconds=60)
    stage.settle()
    stage.send(laptop.session, "one")
    assert texts(waiting.get()) == ["one"]
    books = stage.door._conversations.external
    slow = books.begin(laptop.session)
    stale = stage.read("waiting_messages", session=laptop.session)
    laptop.call()
    assert (slow.offer(stale), len(stale)) == (([], 0), 1)


def test_an_answer_is_bounded_and_says_how_many_are_left(stage: Stage, laptop: Client) -> None:
    for text in ("a" * 100_000, "b" * 15_000, "c" * 5_000, "d"):
        stage.send(laptop.session, text)
    found = laptop.call()
    assert [text[0] for text in texts(found)] == ["a"], "one is never cut, and always given"
    assert "3 more wait for you" in found["note"]
    assert [text[0] for text in laptop.texts()] == ["b", "c"]
    assert laptop.texts() == ["d"]


def test_a_hundred_messages_wait_for_it_and_no_more(stage: Stage, laptop: Client) -> None:
    for number in range(100):
        stage.send(laptop.session, f"{number}")
    refused = stage.call("send", session=laptop.session, text="x")
    assert refused["code"] == "REMOTE_RELAY_QUEUE_LIMIT"
    assert laptop.texts() == [f"{number}" for number in range(100)]


def test_a_stop_holds_what_waits_until_somebody_prompts_it_again(stage: Stage, laptop: Client) -> None:
    stage.send(laptop.session, "one")
    stage.call("stop", session=laptop.session)
    assert laptop.texts() == []
    stage.send(laptop.session, "two")
    assert laptop.texts() == ["one", "two"]


def ended(stage: Stage, action: str, session: str) -> dict[str, Any]:
    return stage.call("stop", session=session) if action == "stop" else act(stage, action, session)


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_stop_says_of_what_waits_that_it_is_held_and_not_of_what_went_out(
    stage: Stage, laptop: Client, action: str
) -> None:
    stage.send(laptop.session, "one")
    assert laptop.texts() == ["one"]
    nothing = ended(stage, action, laptop.session)
    assert (nothing["stopRequested"], "note" in nothing) == (False, False)
    stage.send(laptop.session, "two")
    stage.send(laptop.session, "three")
    held = ended(stage, action, laptop.session)
    assert held["note"].startswith(
        "2 messages stay in its queue until somebody prompts it again or lets it go"
    )
    assert laptop.texts() == []
    assert act(stage, "go_on", laptop.session)["released"]
    assert laptop.texts() == ["two", "three"]


# -- waiting for them ------------------------------------------------------------------------------


def test_a_wait_for_whatever_comes_is_ended_by_a_message(stage: Stage, laptop: Client) -> None:
    waiting = laptop.begin("wait", wait_seconds=120)
    stage.advance(30)
    assert not waiting.done
    stage.send(laptop.session, "wake up")
    found = waiting.get()
    assert (found["summary"], texts(found)) == ("wait: 1 message", ["wake up"])


def test_a_wait_for_whatever_comes_ends_with_its_time(stage: Stage, laptop: Client) -> None:
    waiting = laptop.begin("wait", wait_seconds=120)
    stage.advance(120)
    assert waiting.get()["summary"] == "wait: nothing came"
    stage.settle()
    assert laptop.session not in stage.awake
    assert laptop.call("wait", wait_seconds=0)["ok"]


def test_a_wait_gets_what_is_there_and_confirms_what_came_before(stage: Stage, laptop: Client) -> None:
    first = stage.send(laptop.session, "one")
    assert texts(laptop.call("wait", wait_seconds=60)) == ["one"]
    waiting = laptop.begin("wait", wait_seconds=60)
    stage.settle()
    assert (stage.status(first), waiting.done) == ("done", False)


def test_a_wait_that_is_repeated_gets_at_once_what_the_first_may_have_lost(
    stage: Stage, laptop: Client
) -> None:
    stage.send(laptop.session, "one")
    laptop.call("wait", "w1", wait_seconds=60)
    assert texts(laptop.call("wait", "w1", wait_seconds=60)) == ["one"]


def test_a_client_that_has_gone_ends_the_turn_and_keeps_its_messages(stage: Stage, laptop: Client) -> None:
    begun = laptop.gone_while_waiting()
    assert laptop.state() == "idle"
    stage.send(laptop.session, "one")
    assert not begun.result.done or begun.result.error is not None
    assert laptop.session not in stage.awake
    assert laptop.texts() == ["one"]


def test_what_a_call_that_is_given_up_has_stored_stays(stage: Stage, laptop: Client) -> None:
    begun = laptop.start("create_session", provider="helper", text="help", wait_seconds=600)
    stage.settle()
    begun.give_up()
    stage.settle()
    (run,) = stage.workers.runs
    end_turn(stage, run.session, reply="done")
    assert stage.status(run.turn) == "done"
    assert laptop.state() == "idle"


def test_an_answer_that_reached_nobody_has_given_nothing(stage: Stage, laptop: Client) -> None:
    stage.send(laptop.session, "one")
    begun = laptop.start("list_relays")
    stage.settle()
    begun.give_up()
    assert texts(begun.result.get()) == ["one"]
    assert laptop.texts() == ["one"]


def test_a_relay_that_closes_answers_who_waits(stage: Stage, laptop: Client) -> None:
    waiting = laptop.begin("wait", wait_seconds=600)
    stage.settle()
    stage.close()
    assert waiting.get()["summary"] == "wait: nothing came"


def test_who_waits_for_a_message_to_it_hears_when_it_is_taken(stage: Stage, laptop: Client) -> None:
    sent = stage.begin("send", session=laptop.session, text="hello", wait_seconds=60)
    stage.settle()
    laptop.call()
    assert not sent.done
    laptop.call()
    stage.settle()
    found = sent.get()
    assert (found["status"], found["stopReason"], found.get("reply")) == ("done", "end", None)
    assert "no reply" in found["note"]
    waited = stage.call("wait", session=laptop.session, message_id=found["message_id"])
    assert (waited["status"], waited["note"]) == ("done", found["note"])


def open_again(stage: Stage) -> Stage:
    """Let the relay die, and start another that is open to agents over what it stored."""
    stage.drop()
    return Stage(stage.home, settings=OPEN, providers=PROVIDERS)


# -- in any order ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_in_any_order_of_steps_each_message_comes_once_and_in_order(open_stage: OpenStage, seed: int) -> None:
    stage = open_to_agents(open_stage, seed)
    laptop = client(stage)
    got: list[str] = []
    sent = [stage.begin("send", session=laptop.session, text=f"{n}", wait_seconds=0) for n in range(6)]
    while stage.random.random() < 0.9:
        stage.dispatcher.step()
    for _ in range(5):
        calls = [laptop.begin("list_relays") for _ in range(stage.random.randrange(1, 3))]
        stage.settle()
        got += [text for call in calls for text in texts(call.get())]
    stored = sorted((stage.read("message", message=each.get()["message_id"]) for each in sent), key=position)
    assert got == [row["text"] for row in stored]
    assert {row["status"] for row in stored} == {"done"}
    assert stage.workers.runs == []


def position(row: dict[str, int]) -> int:
    return row["position"]
