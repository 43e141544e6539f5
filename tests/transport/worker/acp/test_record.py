"""What is kept of what an agent does in a turn: the last lines, each thought as one, and no secret."""

from typing import Any

from acp import schema

from showcaller.actors.contract.limits import ACTIVITY_CHARACTERS, ACTIVITY_LINES
from showcaller.transport.worker.acp.record import LINE, TurnRecord
from tests.transport.worker.acp.desk import AgentDesk


class Told:
    """Hears what an agent says and does."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        """Drop it."""

    def act(self, line: str) -> None:
        self.lines.append(line)


def update(what: str, **fields: Any) -> Any:
    told = {"sessionId": "s", "update": {"sessionUpdate": what, **fields}}
    return schema.SessionNotification.model_validate(told).update


def thought(text: str) -> Any:
    return update("agent_thought_chunk", content={"type": "text", "text": text})


def tool(title: str) -> Any:
    return update("tool_call", toolCallId="t", title=title)


def usage(used: int) -> Any:
    return update("usage_update", used=used, size=1000)


def test_pieces_of_a_thought_are_one_line_and_only_the_last_of_usages_is_kept() -> None:
    record = TurnRecord(told := Told())
    for each in (thought("look"), thought(" around"), tool("ls"), usage(1), usage(2), thought("done")):
        record.take(each)
    kept = ("thinks: look around", "tool: ls", "usage: 2 of 1000 tokens", "thinks: done")
    assert record.activity() == kept
    assert record.activity() == kept
    assert told.lines[:2] == ["thinks: look", "thinks: around"]


def test_of_many_lines_the_last_are_kept_and_the_number_of_the_others() -> None:
    record = TurnRecord(Told())
    for number in range(ACTIVITY_LINES + 50):
        record.take(tool(f"step {number}"))
    first, *lines = record.activity()
    assert first == "50 earlier ones are left out"
    assert lines == [f"tool: step {number}" for number in range(50, ACTIVITY_LINES + 50)]


def test_long_lines_are_kept_within_a_number_of_characters() -> None:
    record = TurnRecord(Told())
    for _ in range(ACTIVITY_LINES):
        record.take(tool("x" * 5_000))
    first, *lines = record.activity()
    assert {len(line) for line in lines} == {LINE}
    assert sum(len(line) + 1 for line in lines) <= ACTIVITY_CHARACTERS
    assert first == f"{ACTIVITY_LINES - len(lines)} earlier ones are left out"


def test_a_long_thought_is_cut_and_costs_no_more_for_each_piece() -> None:
    record = TurnRecord(Told())
    for _ in range(10_000):
        record.take(thought("word "))
    (line,) = record.activity()
    assert len(line) == LINE
    assert line.endswith("…")


def test_a_secret_that_comes_in_pieces_is_hidden_in_what_is_kept() -> None:
    record = TurnRecord(Told(), "secret-token")
    for piece in ("it is sec", "ret-tok", "en, is it"):
        record.take(thought(piece))
    record.take(tool("echo secret-token"))
    assert record.activity() == (
        "thinks: it is [a token of the relay], is it",
        "tool: echo [a token of the relay]",
    )


async def test_the_end_of_a_turn_tells_what_its_agent_did_be_it_stopped_or_failed(desk: AgentDesk) -> None:
    did = ("thinks: make", "plan: pending: look around", "tool: make", "completed: t1")
    end = await desk.run("think make\nsay hi")
    assert end.activity == (*did, "usage: 10 of 1000 tokens")
    failed = await desk.run("tool Read\nerror -32603 boom")
    assert (failed.outcome, failed.activity) == ("failed", ("tool: Read", "completed: t1"))
    turn = desk.start("tool Read\nhang")
    await desk.stage.output_with(turn, "hanging")
    desk.stage.stop(turn)
    stopped = await desk.stage.end_of(turn)
    assert (stopped.outcome, stopped.activity) == ("stopped", ("tool: Read", "completed: t1"))
