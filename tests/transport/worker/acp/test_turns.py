"""Turns of an agent: what it says and does, and the one end that each has."""

import json
from typing import Any

import pytest

from showcaller.actors.contract.worker import TurnActivity, TurnEnded
from tests.transport.worker.acp.desk import AgentDesk
from tests.transport.worker.stage import wait_gone


def one_end(desk: AgentDesk, end: TurnEnded) -> bool:
    return [m for m in desk.stage.messages if isinstance(m, TurnEnded) and m.turn == end.turn] == [end]


async def test_what_an_agent_says_is_the_reply_and_streams(desk: AgentDesk) -> None:
    turn = desk.start("say Hello.\nstream 20")
    end = await desk.stage.end_of(turn)
    assert (end.outcome, end.stop_reason, end.error_text) == ("done", "end", None)
    assert end.reply == "Hello." + "".join(f"{number} " for number in range(20))
    assert desk.stage.output_of(turn) == end.reply
    assert (end.resumed_via, end.agent_session is not None) == ("new", True)


async def test_an_agent_stays_between_turns_and_remembers(desk: AgentDesk) -> None:
    first = await desk.run("recall")
    second = await desk.run("recall")
    process, session, before = second.reply.split(" ", 2)
    assert first.reply.split(" ", 2)[:2] == [process, session]
    assert json.loads(before) == ["recall"]
    assert (second.resumed_via, second.agent_session) == ("alive", session)


async def test_what_is_said_before_and_after_a_tool_is_told_apart(desk: AgentDesk) -> None:
    end = await desk.run("say Let me look.\nthink make\nsay Done.")
    assert end.reply == "Let me look.\n\nDone."


async def test_what_an_agent_does_is_told_in_lines(desk: AgentDesk) -> None:
    token = {"environment": {"SHOWCALLER_TOKEN": "sct_secret"}}
    assert await lines_of(desk, "think make\tit \x1b[31m red", token) == [
        "thinks: make it \ufffd[31m red",
        "plan: pending: look around",
        "tool: make it \ufffd[31m red",
        "completed: t1",
        "usage: 10 of 1000 tokens",
    ]
    assert "tool: [a token of the relay]" in await lines_of(desk, "think sct_secret", token)
    assert max(map(len, await lines_of(desk, "tool " + "x" * 1000, token))) == 300


async def lines_of(desk: AgentDesk, text: str, more: dict[str, Any]) -> list[str]:
    turn = desk.start(text, turn_more=more)
    await desk.stage.end_of(turn)
    told = [m for m in desk.stage.messages if isinstance(m, TurnActivity) and m.turn == turn]
    return [line for message in told for line in message.lines]


async def test_a_tool_without_a_word_is_an_answer(desk: AgentDesk) -> None:
    end = await desk.run("tool make")
    assert (end.outcome, end.stop_reason, end.reply) == ("done", "end", "")


@pytest.mark.parametrize(
    ("orders", "outcome", "stop_reason", "error_class"),
    [
        ("empty", "failed", "empty", "other"),
        ("think nothing\nsay  ", "done", "end", None),
        ("say cut\nstop max_tokens", "done", "length", None),
        ("say on\nstop max_turn_requests", "done", "length", None),
        ("say no\nstop refusal", "failed", "refused", "other"),
        ("say half\nstop cancelled", "failed", "interrupted", "other"),
        ("say half\nstop unheard_of", "failed", "end", "other"),
        ("error -32000 Authentication required", "failed", "end", "auth"),
        ("error -32603 API Error: 429 too many requests", "failed", "end", "rate_limit"),
        ("error -32603 529 overloaded_error", "failed", "end", "overloaded"),
        ("error -32603 the disk is full", "failed", "end", "other"),
        ("crash 3", "failed", "died", "other"),
    ],
)
async def test_the_ends_of_turns_are_told_apart(
    desk: AgentDesk, orders: str, outcome: str, stop_reason: str, error_class: str | None
) -> None:
    end = await desk.run(orders)
    assert (end.outcome, end.stop_reason, end.error_class) == (outcome, stop_reason, error_class)
    assert (end.error_text is None) == (outcome == "done")
    assert one_end(desk, end)


async def test_the_error_that_is_also_said_is_no_reply(desk: AgentDesk) -> None:
    end = await desk.run("spoken-error -32603 API Error: 401 invalid x-api-key")
    assert (end.outcome, end.reply, end.error_class) == ("failed", "", "auth")
    assert end.error_text == "API Error: 401 invalid x-api-key"


async def test_an_error_that_is_said_as_the_only_reply_is_one(desk: AgentDesk) -> None:
    end = await desk.run("say API Error: 529 overloaded")
    assert (end.outcome, end.reply, end.error_class) == ("failed", "", "overloaded")


async def test_a_dead_agent_is_told_with_its_last_words_and_what_it_has_said(desk: AgentDesk) -> None:
    end = await desk.run("say halfway\ncrash 3")
    assert (end.outcome, end.stop_reason, end.reply) == ("failed", "died", "halfway")
    assert end.error_text is not None
    assert "exited with code 3 before the turn had ended" in end.error_text
    assert "fake: out of memory" in end.error_text


async def test_a_stopped_turn_is_cancelled_and_its_agent_stays(desk: AgentDesk) -> None:
    turn = desk.start("hang")
    await desk.stage.output_with(turn, "hanging")
    desk.stage.stop(turn)
    end = await desk.stage.end_of(turn)
    assert (end.outcome, end.stop_reason, end.reply, end.error_text) == ("stopped", "end", "hanging\n", None)
    assert (await desk.run("say on")).resumed_via == "alive"


async def test_an_agent_that_ignores_being_cancelled_is_killed_and_continued_in_another(open_desk) -> None:  # type: ignore[no-untyped-def]
    desk: AgentDesk = open_desk(grace=0.2)
    turn = desk.start("child 1000\ndeaf")
    child = int((await desk.stage.output_with(turn, "deaf")).split()[1])
    desk.stage.stop(turn)
    end = await desk.stage.end_of(turn)
    assert end.outcome == "stopped"
    assert wait_gone(child)
    again = await desk.run("recall")
    assert again.resumed_via == "resume"
    assert json.loads(again.reply.split(" ", 2)[2]) == ["child 1000\ndeaf"]


async def test_a_turn_out_of_time_ends_so(desk: AgentDesk) -> None:
    end = await desk.run("hang", turn_more={"timeout": 1.0})
    assert (end.outcome, end.stop_reason) == ("failed", "timeout")


async def test_a_killed_agent_ends_with_its_children(desk: AgentDesk) -> None:
    turn = desk.start("child 1000\nhang")
    child = int((await desk.stage.output_with(turn, "hanging")).split()[1])
    desk.kill()
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    assert wait_gone(child)
    state = await desk.state("none")
    assert state.why == "killed"


async def test_how_an_agent_stands_is_told(desk: AgentDesk) -> None:
    turn = desk.start("say hi")
    end = await desk.stage.end_of(turn)
    starting, alive, prompted = desk.states()
    assert (starting.state, starting.turn, starting.agent_session) == ("starting", turn, None)
    assert (alive.state, alive.version, alive.agent_session) == ("alive", "1.5", None)
    assert (alive.models, alive.efforts) == (("small", "large"), ("low", "high"))
    assert (alive.modes, alive.model) == (("ask", "plan", "code", "yolo"), "small")
    assert prompted == alive.model_copy(update={"agent_session": end.agent_session})
    desk.stage.host.meet_another_relay()
    assert await desk.state("alive", 3) == prompted


async def test_an_idle_agent_goes_to_sleep_and_its_conversation_goes_on(open_desk) -> None:  # type: ignore[no-untyped-def]
    desk: AgentDesk = open_desk(idle=0.1)
    await desk.run("say hi")
    assert (await desk.state("none")).why == "idle"
    again = await desk.run("recall")
    assert again.resumed_via == "resume"
    assert json.loads(again.reply.split(" ", 2)[2]) == ["say hi"]


async def test_an_agent_gets_the_environment_of_its_worker_its_entry_and_its_turn(desk: AgentDesk) -> None:
    told = {"environment": {"SHOWCALLER_TOKEN": "sct_secret_of_the_turn"}}
    orders = "env HOME\nenv FROM_ENTRY\nenv SHOWCALLER_TOKEN"
    end = await desk.run(orders, environment={"FROM_ENTRY": "1"}, turn_more=told)
    assert "HOME=/" in end.reply
    assert "FROM_ENTRY=1" in end.reply
    assert "SHOWCALLER_TOKEN=[a token of the relay]" in end.reply
    assert "sct_secret" not in end.reply
