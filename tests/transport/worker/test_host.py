"""The host: receipts, exactly one end per turn, turns handed over again, stops and closing."""

import asyncio
import errno
import logging
from collections.abc import Sequence
from typing import cast

import pytest

from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.actors.contract.worker import RunTurn, StopTurn, TurnEnded
from showcaller.transport.worker import host as host_module
from showcaller.transport.worker.journal import MemoryJournal
from showcaller.transport.worker.providers import Result, Sink
from tests.transport.worker.stage import LIMIT, Stage


class FullDisk(MemoryJournal):
    """A journal on a disk that takes no receipts until it has room."""

    def __init__(self) -> None:
        super().__init__()
        self.full = True
        self.refused = 0
        self.refused_again = asyncio.Event()

    def take(self, turns: Sequence[str]) -> None:
        if self.full:
            self.refused += 1
            if self.refused > 1:
                self.refused_again.set()
            raise OSError(errno.ENOSPC, "No space left on device")


class Scripted:
    """A provider whose turns run until the test lets them end."""

    def __init__(self) -> None:
        self.stage: Stage | None = None
        self.started: list[str] = []
        self.sinks: dict[str, Sink] = {}
        self.results: dict[str, asyncio.Future[Result]] = {}
        self.kinds_at_start: list[list[str]] = []
        self.began = asyncio.Event()
        self.closed = False

    async def run(self, turn: RunTurn, sink: Sink) -> Result:
        assert self.stage is not None
        self.started.append(turn.turn)
        self.kinds_at_start.append(self.stage.kinds(turn.turn))
        self.sinks[turn.turn] = sink
        self.began.set()
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.results[turn.turn] = result
        if turn.text == "polite":
            sink.on_halt(lambda: result.set_result(Result("cut short")))
        return await result

    async def close(self) -> None:
        self.closed = True

    async def running(self, turn: str) -> Sink:
        """Wait until a turn is with the provider."""
        async with asyncio.timeout(LIMIT):
            while turn not in self.sinks:
                self.began.clear()
                await self.began.wait()
        return self.sinks[turn]


@pytest.fixture
def play() -> Scripted:
    return Scripted()


@pytest.fixture
async def stage(play: Scripted) -> Stage:
    play.stage = Stage({"play": play}, grace=0.0)
    return play.stage


async def test_the_receipt_is_sent_before_the_provider_gets_the_prompt(stage: Stage, play: Scripted) -> None:
    await play.running(stage.start(provider="play"))
    assert play.kinds_at_start == [["turn_taken"]]


async def test_nothing_is_sent_or_started_while_messages_are_received(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    assert (stage.messages, play.started) == ([], [])
    await play.running(turn)


async def test_output_is_batched_and_all_of_it_comes_before_the_end(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    sink = await play.running(turn)
    for piece in ("a", "", "b", "c"):
        sink.write(piece)
    assert await stage.output_with(turn, "c") == "abc"
    sink.write("d")
    play.results[turn].set_result(Result("abcd"))
    assert (await stage.end_of(turn)).reply == "abcd"
    assert [m.kind for m in stage.messages] == ["turn_taken", "turn_output", "turn_output", "turn_ended"]
    assert stage.output_of(turn) == "abcd"
    sink.write("after the end")
    assert stage.host._written == {}


async def test_a_flood_of_output_is_cut_in_the_middle_between_two_sends(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    sink = await play.running(turn)
    for _ in range(1000):
        sink.write("x" * 1000)
    sink.write("last")
    text = await stage.output_with(turn, "last")
    assert len(text) < 20_000
    assert "characters left out" in text
    play.results[turn].set_result(Result())
    await stage.end_of(turn)


async def test_a_turn_handed_over_again_while_it_runs_changes_nothing(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    await play.running(turn)
    stage.relay.send([RunTurn(session="ses_stage", turn=turn, provider="play", text="again")])
    play.results[turn].set_result(Result("once"))
    await stage.end_of(turn)
    await stage.host.idle()
    assert play.started == [turn]
    assert stage.kinds(turn) == ["turn_taken", "turn_ended"]


async def test_a_turn_handed_over_again_after_its_end_gets_the_same_end(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    await play.running(turn)
    play.results[turn].set_result(Result("once"))
    first = await stage.end_of(turn)
    stage.messages.clear()
    stage.relay.send([RunTurn(session="ses_stage", turn=turn, provider="play", text="again")] * 2)
    await stage.host.idle()
    assert stage.messages == [first, first]
    assert play.started == [turn]


async def test_a_stop_for_an_unknown_or_an_ended_turn_is_harmless(stage: Stage, play: Scripted) -> None:
    stage.stop("msg_unknown")
    turn = stage.start(provider="play")
    await play.running(turn)
    play.results[turn].set_result(Result("whole"))
    assert (await stage.end_of(turn)).outcome == "done"
    stage.stop(turn)
    await stage.host.idle()
    assert stage.kinds(turn) == ["turn_taken", "turn_ended"]


async def test_a_turn_stopped_before_it_began_never_reaches_its_provider(
    stage: Stage, play: Scripted
) -> None:
    turn = stage.start(provider="play")
    stage.stop(turn)
    end = await stage.end_of(turn)
    assert (end.outcome, play.started) == ("stopped", [])
    assert stage.kinds(turn) == ["turn_taken", "turn_ended"]


async def test_a_stop_reaches_the_provider_and_keeps_its_reply(stage: Stage, play: Scripted) -> None:
    turn = stage.start("polite", "play")
    await play.running(turn)
    stage.stop(turn)
    stage.stop(turn)
    end = await stage.end_of(turn)
    assert (end.outcome, end.reply) == ("stopped", "cut short")


async def test_a_stop_after_the_work_has_ended_by_itself_changes_nothing(
    stage: Stage, play: Scripted
) -> None:
    turn = stage.start("polite", "play")
    sink = await play.running(turn)
    sink.settle()
    stage.stop(turn)
    play.results[turn].set_result(Result("whole"))
    end = await stage.end_of(turn)
    assert (end.outcome, end.reply) == ("done", "whole")


async def test_a_provider_that_does_not_end_when_asked_is_given_up(
    stage: Stage, play: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "PATIENCE", 0.01)
    turn = stage.start("stubborn", "play", timeout=0.01)
    end = await stage.end_of(turn)
    assert (end.outcome, end.stop_reason) == ("failed", "timeout")


async def test_a_provider_that_raises_fails_its_turn_only(
    stage: Stage, play: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = stage.start(provider="play"), stage.start(provider="play")
    await play.running(good)
    with caplog.at_level(logging.ERROR):
        play.results[bad].set_exception(KeyError("lost"))
        end = await stage.end_of(bad)
    assert (end.outcome, end.error_text) == ("failed", "KeyError: 'lost'")
    assert bad in caplog.text
    play.results[good].set_result(Result("fine"))
    assert (await stage.end_of(good)).reply == "fine"


async def test_an_unknown_provider_is_failed_with_the_known_ones(stage: Stage) -> None:
    end = await stage.run(provider="dance:slowly")
    assert end.outcome == "failed"
    assert end.error_text == "unknown provider 'dance:slowly'; this worker knows: play"


async def test_drain_interrupts_what_runs_and_what_comes_later(stage: Stage, play: Scripted) -> None:
    turn = stage.start("polite", "play")
    await play.running(turn)
    waiting = stage.start("polite", "play")
    await stage.host.drain()
    late = stage.start("polite", "play")
    await stage.host.idle()
    for each in (turn, waiting, late):
        end = await stage.end_of(each)
        assert (end.outcome, end.stop_reason) == ("failed", "interrupted")
    assert play.started == [turn]


async def test_close_lets_go_of_providers_and_link(stage: Stage, play: Scripted) -> None:
    await stage.host.close()
    assert play.closed
    stage.start(provider="play")
    await stage.host.idle()
    assert stage.messages == []


async def test_a_time_limit_is_called_off_at_the_end(stage: Stage, play: Scripted) -> None:
    turn = stage.start("polite", "play", timeout=30)
    await play.running(turn)
    [running] = stage.host._running.values()
    play.results[turn].set_result(Result())
    await stage.end_of(turn)
    assert all(timer.cancelled() for timer in running.timers)


async def test_many_turns_each_get_exactly_one_end(stage: Stage, play: Scripted) -> None:
    turns = [stage.start("polite", "play") for _ in range(200)]
    await play.running(turns[-1])
    stage.relay.send([StopTurn(session="ses_stage", turn=turn) for turn in turns[::2]])
    for turn in turns[1::2]:
        play.results[turn].set_result(Result(turn))
    await stage.host.idle()
    ends = [message for message in stage.messages if isinstance(message, TurnEnded)]
    assert sorted(end.turn for end in ends) == sorted(turns)
    assert sum(end.outcome == "stopped" for end in ends) == 100


async def test_a_result_that_is_none_fails_its_turn_only(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play")
    await play.running(turn)
    play.results[turn].set_result(Result(reply=cast("str", None)))
    end = await stage.end_of(turn)
    assert (end.outcome, end.stop_reason) == ("failed", "end")
    assert "unusable result" in (end.error_text or "")
    await stage.host.drain()


async def test_turns_beyond_the_limit_wait_for_room(play: Scripted) -> None:
    stage = play.stage = Stage({"play": play}, grace=0.0, at_work=2)
    first, second, third, fourth = (stage.start(provider="play") for _ in range(4))
    await play.running(second)
    assert [stage.kinds(turn) for turn in (third, fourth)] == [["turn_taken"], ["turn_taken"]]
    stage.stop(fourth)
    assert (await stage.end_of(fourth)).outcome == "stopped"
    assert play.started == [first, second]
    play.results[first].set_result(Result("1"))
    await play.running(third)
    for turn in (second, third):
        play.results[turn].set_result(Result("more"))
        assert (await stage.end_of(turn)).reply == "more"
    await stage.host.close()


async def test_turns_whose_receipts_the_disk_does_not_take_wait_until_it_does(
    play: Scripted, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "RECEIPT_INTERVAL", 0.01)
    disk = FullDisk()
    stage = play.stage = Stage({"play": play}, grace=0.0, journal=disk)
    first, second = stage.start(provider="play"), stage.start("polite", "play")
    async with asyncio.timeout(LIMIT):
        await disk.refused_again.wait()
    assert (stage.messages, play.started) == ([], [])
    assert caplog.text.count("No receipts can be written") == 1
    stage.stop(second)
    end = await stage.end_of(second)
    assert (end.outcome, stage.kinds(second)) == ("stopped", ["turn_ended"])
    disk.full = False
    await play.running(first)
    assert (play.started, stage.kinds(first)) == ([first], ["turn_taken"])
    play.results[first].set_result(Result("late"))
    assert (await stage.end_of(first)).reply == "late"


async def test_a_worker_that_ends_beside_a_full_disk_does_not_wait_for_it(
    play: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "RECEIPT_INTERVAL", 0.01)
    stage = play.stage = Stage({"play": play}, grace=0.0, journal=FullDisk())
    turn = stage.start(provider="play")
    async with asyncio.timeout(LIMIT):
        await stage.host.close()
    end = await stage.end_of(turn)
    assert (end.outcome, end.stop_reason) == ("failed", "interrupted")


async def test_time_on_a_pause_does_not_count(stage: Stage, play: Scripted) -> None:
    turn = stage.start(provider="play", timeout=0.05)
    sink = await play.running(turn)
    sink.pause()
    sink.pause()
    other = await stage.run(provider="play", text="polite", timeout=0.1)
    assert other.stop_reason == "timeout"
    assert turn not in [m.turn for m in stage.messages if isinstance(m, TurnEnded)]
    sink.go_on()
    assert not play.results[turn].done()
    sink.go_on()
    assert (await stage.end_of(turn)).stop_reason == "timeout"


async def test_a_worker_without_agents_says_so(stage: Stage) -> None:
    spec = AgentSpec(name="claude", label="Claude Code", command=("claude-agent-acp",))
    end = await stage.run(provider="claude", agent=spec)
    assert (end.outcome, end.error_text) == ("failed", "this worker runs no agents, so not 'claude' either")
