"""What a session's agent writes is read while it writes, and after that, over one cursor."""

from typing import Any

from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage
from tests.actors.relay.watch import ask, begin


def texts(answer: dict[str, Any]) -> list[str]:
    """The lines of an answer."""
    return [line["text"] for line in answer["lines"]]


def test_lines_come_while_they_are_written_and_go_on_over_the_end_and_into_the_next_turn(
    stage: Stage,
) -> None:
    session, turn = stage.create()
    stage.workers.write(turn, "one\ntwo\nhal")
    first = ask(stage, "session_output", session=session)
    assert texts(first) == ["one", "two"]
    assert (first["state"], first["lines"][0]["message_id"]) == ("running_turn", turn)
    waiting = begin(stage, "session_output", session=session, since=first["next"], wait=60)
    stage.settle()
    assert not waiting.done
    stage.workers.write(turn, "f\n")
    stage.settle()
    second = waiting.get()
    assert texts(second) == ["half"]
    stage.workers.end(turn, reply="one\ntwo\nhalf\nlast")
    stage.settle()
    third = ask(stage, "session_output", session=session, since=second["next"])
    assert (texts(third), third["state"]) == (["last"], "idle")
    waiting = begin(stage, "session_output", session=session, since=third["next"], wait=60)
    stage.settle()
    assert not waiting.done
    following = stage.send(session, "more")
    stage.settle()
    assert not waiting.done
    stage.workers.write(following, "next\n")
    stage.settle()
    assert texts(waiting.get()) == ["next"]


def test_a_wait_for_a_line_ends_with_its_time(stage: Stage) -> None:
    session, turn = stage.create()
    waiting = begin(stage, "session_output", session=session, wait=5)
    stage.settle()
    assert not waiting.done
    stage.advance(6)
    stage.settle()
    assert (texts(waiting.get()), waiting.get()["next"]) == ([], "0")
    del turn


def test_the_last_lines_are_the_newest_of_all_turns(open_stage: OpenStage) -> None:
    stage = open_stage()
    session, turn = stage.create()
    stage.workers.end(turn, reply="a\nb\nc")
    stage.settle()
    second = stage.send(session, "again")
    stage.workers.write(second, "d\n")
    stage.settle()
    assert texts(ask(stage, "session_output", session=session, last=2)) == ["c", "d"]
    assert texts(ask(stage, "session_output", session=session)) == ["a", "b", "c", "d"]
    end = ask(stage, "session_output", session=session, last=0)
    assert texts(end) == []
    assert texts(ask(stage, "session_output", session=session, since=end["next"])) == []
    assert texts(ask(stage, "session_output", session=session, since="0")) == ["a", "b", "c", "d"]
    looking = open_stage(read_only=True)
    assert texts(ask(looking, "session_output", session=session)) == ["a", "b", "c"]


def test_many_replies_come_in_pages_that_lose_nothing(stage: Stage) -> None:
    session, turn = stage.create()
    for number in range(20):
        stage.workers.end(turn, reply="\n".join(f"{number}.{line}" for line in range(100)))
        stage.settle()
        turn = stage.send(session, "go on") if number < 19 else ""
    since, seen = "0", list[str]()
    while True:
        page = ask(stage, "session_output", session=session, since=since)
        seen += texts(page)
        since = page["next"]
        if not page["more"]:
            break
    assert seen == [f"{number}.{line}" for number in range(20) for line in range(100)]
    assert texts(ask(stage, "session_output", session=session, last=1000)) == seen[1000:]
