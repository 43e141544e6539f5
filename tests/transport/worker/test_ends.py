"""Ends of turns: the message for each way to end, and the bounded memory of ends."""

import pytest

from showcaller.actors.contract.worker import RunTurn, TurnEnded
from showcaller.transport.worker.ends import ERROR_TEXT_LIMIT, Halt, RecentEnds, turn_ended
from showcaller.transport.worker.providers import Result

TURN = RunTurn(session="ses_a", turn="msg_a", provider="command", text="true", timeout=2.5)


def ended(turn: str, reply: str = "") -> TurnEnded:
    return TurnEnded(session="ses_a", turn=turn, outcome="done", reply=reply)


@pytest.mark.parametrize(
    ("result", "halt", "outcome", "stop_reason", "error_text"),
    [
        (Result("r"), None, "done", "end", None),
        (Result("r", error_text="bad"), None, "failed", "end", "bad"),
        (Result("r", error_text="bad", stop_reason="died"), None, "failed", "died", "bad"),
        (Result("r", error_text="bad", stop_reason="died"), "stopped", "stopped", "end", None),
        (
            Result("r"),
            "timeout",
            "failed",
            "timeout",
            "ran longer than its time limit of 2.5 s and was ended",
        ),
        (
            Result("r"),
            "interrupted",
            "failed",
            "interrupted",
            "was still running when its worker was closed",
        ),
    ],
)
def test_each_way_to_end(
    result: Result, halt: Halt | None, outcome: str, stop_reason: str, error_text: str | None
) -> None:
    end = turn_ended(TURN, result, halt, 1.5)
    assert (end.outcome, end.stop_reason, end.error_text) == (outcome, stop_reason, error_text)
    assert (end.session, end.turn, end.reply, end.seconds) == ("ses_a", "msg_a", "r", 1.5)


def test_an_end_may_always_cross_a_border() -> None:
    end = turn_ended(TURN, Result("a\ud800b", error_text="\udcff" + "x" * 100_000), None, -0.001)
    assert end.reply == "a\ufffd\ufffd\ufffdb"
    assert len(str(end.error_text)) < ERROR_TEXT_LIMIT + 100
    assert end.seconds == 0


def test_the_oldest_end_is_forgotten_beyond_the_number() -> None:
    ends = RecentEnds(count_limit=2)
    for turn in "abc":
        ends.remember(ended(turn))
    assert [ends.find(turn) for turn in "abc"] == [None, ended("b"), ended("c")]


def test_the_oldest_ends_are_forgotten_beyond_the_size_but_never_the_newest() -> None:
    ends = RecentEnds(size_limit=10)
    ends.remember(ended("a", "12345"))
    ends.remember(ended("b", "12345"))
    assert ends.find("a") == ended("a", "12345")
    ends.remember(ended("c", "x" * 50))
    assert [ends.find(turn) for turn in "abc"] == [None, None, ended("c", "x" * 50)]
