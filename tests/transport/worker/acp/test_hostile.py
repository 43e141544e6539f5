"""Agents that say what no agent should: it costs them their turn at most, and nobody else anything."""

import resource
import sys

import pytest

from showcaller.actors.contract.worker import TurnEnded
from showcaller.transport.worker.acp.peer import MOST_REQUESTS
from tests.transport.worker.acp.conftest import OpenDesk
from tests.transport.worker.acp.desk import AgentDesk


async def test_what_is_no_message_is_passed_over(desk: AgentDesk) -> None:
    end = await desk.run("garbage\nsay still here", "chatty")
    assert (end.outcome, end.reply) == ("done", "still here")


async def test_a_line_beyond_asyncios_limit_arrives_whole(desk: AgentDesk) -> None:
    end = await desk.run("huge 900000")
    assert (end.outcome, end.reply) == ("done", "x" * 900_000)


async def test_a_line_without_an_end_is_cut_off_in_bounded_memory(open_desk: OpenDesk) -> None:
    desk = open_desk(line_limit=8 * 1024 * 1024)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = await desk.run("endless 1000")
    assert (end.outcome, end.stop_reason) == ("failed", "died")
    assert "a line of more than 8,388,608 bytes" in str(end.error_text)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 100_000_000
    assert (await desk.run("say on")).resumed_via == "resume"


async def test_answers_to_what_was_not_asked_are_dropped(desk: AgentDesk) -> None:
    end = await desk.run("wrong-ids\nsay on")
    assert (end.outcome, end.reply) == ("done", "on")


async def test_an_agent_that_answers_twice_has_one_end(desk: AgentDesk) -> None:
    end = await desk.run("say first\ntwice late")
    assert (end.outcome, end.reply) == ("done", "first")
    again = await desk.run("say second")
    assert (again.outcome, again.reply) == ("done", "second")
    ends = [m.turn for m in desk.stage.messages if isinstance(m, TurnEnded)]
    assert ends == [end.turn, again.turn]


async def test_a_flood_of_notifications_keeps_others_served(desk: AgentDesk) -> None:
    flood = desk.start("flood 20000\nsay done")
    other = desk.stage.start(
        "say quick", provider="fake", agent=desk.spec(), session="ses_other", cwd=str(desk.work)
    )
    assert (await desk.stage.end_of(other)).reply == "quick"
    assert (await desk.stage.end_of(flood)).reply == "done"


async def test_more_questions_at_once_than_are_taken_are_refused(desk: AgentDesk) -> None:
    turn = desk.start(f"ask-often {MOST_REQUESTS + 20}")
    await desk.card(turn, MOST_REQUESTS)
    desk.stage.stop(turn)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    assert len(desk.cards(turn)) == MOST_REQUESTS, "and what it asks while it is to stop nobody is shown"


async def test_an_agent_that_hears_no_more_is_ended(desk: AgentDesk) -> None:
    script = (
        "import json, os, sys\n"
        "def say(**message): print(json.dumps(message), flush=True)\n"
        "say(id=json.loads(sys.stdin.readline())['id'], result={'protocolVersion': 1})\n"
        "say(id=json.loads(sys.stdin.readline())['id'], result={'sessionId': 's'})\n"
        "sys.stdin.readline()\n"
        "os.close(0)\n"
        "option = {'optionId': 'yes', 'name': 'Allow', 'kind': 'allow_once'}\n"
        "params = {'sessionId': 's', 'toolCall': {'toolCallId': 't', 'title': 'x'}, 'options': [option]}\n"
        "say(id=1, method='session/request_permission', params=params)\n"
        "import threading\n"
        "threading.Event().wait()\n"
    )
    turn = desk.start("hi", command=(sys.executable, "-c", script))
    desk.answer(await desk.card(turn), choices=("yes",))
    end = await desk.stage.end_of(turn)
    assert (end.outcome, end.stop_reason) == ("failed", "died")


async def test_a_killed_agent_is_given_no_other_prompt(desk: AgentDesk) -> None:
    await desk.run("say one")
    desk.kill()
    again = await desk.run("say two")
    assert (again.outcome, again.resumed_via, again.reply) == ("done", "resume", "two")


@pytest.mark.slow
async def test_two_hundred_agents_at_once(open_desk: OpenDesk) -> None:
    desk = open_desk(most_idle=200)
    count = 200

    def start(text: str, number: int) -> None:
        desk.stage.start(
            text, agent=desk.spec(), session=f"ses_{number:04}", cwd=str(desk.work), background=True
        )

    for number in range(count):
        start(f"say I am {number}", number)
    await desk.stage.first(lambda _: len(_ends(desk)) == count, seconds=90)
    assert {end.reply for end in _ends(desk)} == {f"I am {number}" for number in range(count)}
    assert len(desk.provider.processes) == count
    for number in range(count):
        start(f"say again {number}", number)
    await desk.stage.first(lambda _: len(_ends(desk)) == 2 * count, seconds=60)
    assert {end.resumed_via for end in _ends(desk)[count:]} == {"alive"}


def _ends(desk: AgentDesk) -> list[TurnEnded]:
    return [m for m in desk.stage.messages if isinstance(m, TurnEnded)]
