"""Workers as one port: who gets what, and what a death means."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from showcaller.actors.contract.fates import Left
from showcaller.actors.contract.worker import (
    StopTurn,
    TurnEnded,
    TurnReturned,
    TurnStored,
    TurnTaken,
)
from showcaller.transport.placement.assignments import PARTLY
from showcaller.transport.placement.pool import FIRST_PAUSE, STEADY
from tests.transport.placement.desk import Desk, FakeWorker, ended, run


def test_all_messages_of_a_session_go_to_one_worker_and_sessions_are_spread(desk: Desk) -> None:
    pool = desk.open(3)
    for number in range(60):
        session = f"ses_{number:012}"
        assert pool.place(session) == pool.place(session)
        pool.send([run(session, f"msg_{number:012}"), StopTurn(session=session, turn=f"msg_{number:012}")])
    sent = [worker.link.sent for worker in desk.placement.started]
    assert sum(map(len, sent)) == 120
    assert all(len(messages) > 10 for messages in sent)
    for messages in sent:
        assert [m.kind for m in messages] == ["run_turn", "stop_turn"] * (len(messages) // 2)


def test_workers_of_an_earlier_relay_are_taken_up_and_only_those_missing_are_started(
    desk: Desk, tmp_path: Path
) -> None:
    found = FakeWorker(tmp_path / "wrk_found0000000")
    desk.placement.alive = [found]
    pool = desk.open(2)
    assert len(desk.placement.started) == 1
    assert pool.has(found.name)
    found.link.say(TurnTaken(session="ses_a", turn="msg_a"))
    assert [m.kind for m in desk.came] == ["turn_taken"]


def test_what_a_dead_worker_had_is_told_from_its_spool_and_from_what_it_never_took(desk: Desk) -> None:
    pool = desk.open()
    worker = desk.placement.started[0]
    pool.send([run("ses_a", "ended"), run("ses_b", "running"), run("ses_c", "untaken"), run("ses_d", "told")])
    worker.journal.take(["ended", "running", "told"])
    worker.journal.keep(ended("ses_a", "ended", reply="all of it"))
    worker.journal.keep(ended("ses_d", "told"))
    worker.link.say(ended("ses_d", "told"))
    desk.came.clear()
    desk.placement.died(worker.name)
    by_turn = {message.turn: message for message in desk.came if not isinstance(message, TurnTaken)}  # type: ignore[union-attr]
    assert by_turn.keys() == {"ended", "running", "untaken"}, "what was told is not told again"
    assert by_turn["ended"] == ended("ses_a", "ended", reply="all of it")
    interrupted = by_turn["running"]
    assert isinstance(interrupted, TurnEnded)
    assert (interrupted.outcome, interrupted.stop_reason) == ("failed", "interrupted")
    assert interrupted.error_text == PARTLY
    assert by_turn["untaken"] == TurnReturned(session="ses_c", turn="untaken")
    assert worker.link.closed


def test_another_worker_comes_in_the_place_of_one_that_died_and_gets_what_was_sent_meanwhile(
    desk: Desk,
) -> None:
    pool = desk.open()
    first = desk.placement.started[0]
    desk.placement.died(first.name)
    assert not pool.has(first.name)
    name = pool.place("ses_a")
    assert name is not None
    assert pool.has(name)
    pool.send([run("ses_a", "msg_a")])
    assert len(desk.placement.started) == 1, "not at once: it may die again and again"
    assert desk.time_passes() == [FIRST_PAUSE]
    second = desk.placement.started[1]
    assert second.name == name
    assert [m.kind for m in second.link.sent] == ["run_turn"]
    assert desk.came == []


def test_a_turn_goes_to_the_worker_it_is_stored_for_though_others_die_and_come(desk: Desk) -> None:
    """Else the next relay would ask one where another runs it, and that would run it as well."""
    pool = desk.open(3)
    stored_for = {session: pool.place(session) for session in (f"ses_{n:012}" for n in range(60))}
    dead, *living = [worker.name for worker in desk.placement.started]
    desk.placement.died(dead)
    desk.time_passes()
    assert [worker for worker in map(pool.place, stored_for) if worker in living] != [
        worker for worker in stored_for.values() if worker in living
    ], "where a session would go now is another matter"
    pool.send([run(session, f"msg_of_{session}", worker) for session, worker in stored_for.items()])
    for worker in desk.placement.started:
        assert [message.session for message in worker.link.sent] == [
            session for session, name in stored_for.items() if name == worker.name != dead
        ]
    assert desk.came == [
        TurnReturned(session=session, turn=f"msg_of_{session}")
        for session, name in stored_for.items()
        if name == dead
    ]


def test_a_worker_that_cannot_be_started_is_tried_again_with_longer_pauses(desk: Desk) -> None:
    desk.placement.failing = 3
    pool = desk.open()
    pool.send([run("ses_a", "msg_a")])
    pauses = [desk.time_passes() for _ in range(3)]
    assert pauses == [[0.1], [0.2], [0.4]]
    assert [m.kind for m in desk.placement.started[0].link.sent] == ["run_turn"]
    assert desk.later == []


def test_the_folder_of_a_dead_worker_goes_when_the_relay_has_stored_all_of_its_turns(desk: Desk) -> None:
    pool = desk.open()
    worker = desk.placement.started[0]
    pool.send([run("ses_a", "one"), run("ses_b", "two")])
    worker.journal.take(["one", "two"])
    desk.placement.died(worker.name)
    desk.time_passes()
    assert worker.folder.path.exists(), "another relay may need it"
    pool.send([TurnStored(session="ses_a", turn="one")])
    assert worker.folder.path.exists()
    pool.send([TurnStored(session="ses_b", turn="two")])
    assert not worker.folder.path.exists()


def test_a_worker_that_dies_before_it_hears_that_an_end_is_stored_leaves_no_folder(desk: Desk) -> None:
    pool = desk.open()
    (worker,) = desk.placement.started
    pool.send([run("ses_a", "msg_1")])
    worker.journal.take(["msg_1"])
    worker.journal.keep(ended("ses_a", "msg_1"))
    worker.link.say(ended("ses_a", "msg_1"))
    pool.send([TurnStored(session="ses_a", turn="msg_1")])
    desk.placement.died(worker.name)
    assert not worker.folder.path.exists()
    assert desk.came == [ended("ses_a", "msg_1")]


def test_what_workers_left_that_were_dead_before_the_relay_began_can_be_asked_for(
    desk: Desk, tmp_path: Path
) -> None:
    dead = FakeWorker(tmp_path / "wrk_dead00000000")
    dead.journal.take(["one", "two"])
    dead.journal.keep(ended("ses_a", "one"))
    nothing = FakeWorker(tmp_path / "wrk_nothing00000")
    desk.placement.dead = [dead.folder, nothing.folder]
    pool = desk.open()
    assert pool.left_by(dead.name) == Left({"one": ended("ses_a", "one"), "two": None})
    assert pool.left_by(nothing.name) == Left({})
    assert pool.left_by("wrk_unknown00000") is None
    assert dead.folder.path.exists()
    pool.recovered(())
    assert not nothing.folder.path.exists()
    assert not dead.folder.path.exists()


def found_with_ends(desk: Desk, folder: Path) -> FakeWorker:
    """A worker of an earlier relay that keeps two ends, and runs a third turn."""
    worker = FakeWorker(folder)
    worker.journal.take(["one", "two", "three"])
    worker.journal.keep(ended("ses_a", "one"))
    worker.journal.keep(ended("ses_b", "two"))
    desk.placement.alive = [worker]
    return worker


def test_a_worker_is_told_which_of_its_ends_an_earlier_relay_has_stored_but_not_those_that_go_on(
    desk: Desk, tmp_path: Path
) -> None:
    worker = found_with_ends(desk, tmp_path / "wrk_found0000000")
    pool = desk.open()
    assert worker.link.sent == []
    pool.recovered(["two", "three"])
    pool.recovered(["two", "three"])
    assert worker.link.sent == [TurnStored(session="ses_a", turn="one")]


@pytest.mark.parametrize("dies_first", [True, False])
def test_a_worker_whose_ends_an_earlier_relay_has_stored_leaves_no_folder(
    desk: Desk, tmp_path: Path, *, dies_first: bool
) -> None:
    worker = found_with_ends(desk, tmp_path / "wrk_found0000000")
    pool = desk.open()
    acts: list[Callable[[], None]] = [
        lambda: desk.placement.died(worker.name),
        lambda: pool.recovered(["three"]),
    ]
    for act in acts if dies_first else acts[::-1]:
        act()
    assert worker.folder.path.exists(), "another relay may need to know of the third"
    pool.send([TurnStored(session="ses_c", turn="three")])
    assert not worker.folder.path.exists()


def test_a_turn_is_asked_for_at_the_worker_that_has_it_and_nowhere_else(desk: Desk, tmp_path: Path) -> None:
    desk.placement.alive = [FakeWorker(tmp_path / f"wrk_found000000{n}") for n in range(4)]
    pool = desk.open(4)
    for number, worker in enumerate(desk.placement.alive):
        session = f"ses_{number:012}"
        assert pool.ask_again(run(session, f"msg_{number:012}", worker.name))
        pool.send([StopTurn(session=session, turn=f"msg_{number:012}")])
        assert [message.kind for message in worker.link.sent] == ["run_turn", "stop_turn"]
    gone = desk.placement.alive[0]
    desk.placement.died(gone.name)
    assert not pool.ask_again(run("ses_a", "msg_a", gone.name))
    assert pool.left_by(gone.name) == Left({})


def test_a_session_is_forgotten_when_its_end_is_stored(desk: Desk) -> None:
    pool = desk.open()
    (worker,) = desk.placement.started
    pool.send([run("ses_a", "msg_a"), run("ses_b", "msg_b")])
    worker.link.say(ended("ses_a", "msg_a"), ended("ses_b", "msg_b"))
    pool.send([TurnStored(session="ses_a", turn="msg_a")])
    assert pool._books.sessions == 1
    pool.send([TurnStored(session="ses_b", turn="msg_b")])
    assert pool._books.sessions == 0


def test_a_worker_that_lasted_is_followed_soon_and_one_that_dies_again_and_again_later_and_later(
    desk: Desk,
) -> None:
    desk.open()
    pauses = []
    for _ in range(4):
        desk.placement.died(desk.placement.started[-1].name)
        pauses += desk.time_passes()
    assert pauses == [0.1, 0.2, 0.4, 0.8]
    desk.now += STEADY
    desk.placement.died(desk.placement.started[-1].name)
    assert desk.time_passes() == [0.1]


def test_closing_leaves_the_workers_alone_and_starts_no_more(desk: Desk) -> None:
    pool = desk.open()
    worker = desk.placement.started[0]
    desk.placement.died(worker.name)
    pool.close()
    desk.time_passes()
    assert len(desk.placement.started) == 1
    assert desk.placement.closed


def test_a_late_word_of_a_dead_worker_is_passed_on_and_harms_nobody(desk: Desk) -> None:
    pool = desk.open()
    worker = desk.placement.started[0]
    pool.send([run("ses_a", "one")])
    desk.placement.died(worker.name)
    worker.link.say(ended("ses_a", "one"))
    assert [m.kind for m in desk.came] == ["turn_returned", "turn_ended"]
    assert pool.place("ses_a")


def test_ending_the_workers_starts_no_others_and_names_those_that_stay(desk: Desk) -> None:
    pool = desk.open(3)
    names = [worker.name for worker in desk.placement.started]
    desk.placement.stubborn = {names[1]}
    assert pool.end_workers(0.05) == [names[1]]
    assert desk.placement.asked_to_end == names
    assert desk.later == []
    desk.placement.died(names[1])
    assert pool.end_workers(0.05) == []


@pytest.mark.parametrize("told_first", [True, False])
def test_a_worker_that_ends_while_the_relay_ends_is_no_error_and_is_not_replaced(
    desk: Desk, caplog: pytest.LogCaptureFixture, told_first: bool
) -> None:
    """As when all processes of a service are told to end at once, whoever of them is the quicker."""
    caplog.set_level(logging.INFO)
    pool = desk.open()
    worker = desk.placement.started[0]
    if told_first:
        pool.start_no_more()
    desk.placement.died(worker.name)
    pool.start_no_more()
    desk.time_passes()
    assert len(desk.placement.started) == 1
    assert [record.levelname for record in caplog.records if worker.name in record.getMessage()] == ["INFO"]


def test_a_worker_that_dies_while_the_relay_goes_on_is_an_error(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.open()
    worker = desk.placement.started[0]
    desk.placement.died(worker.name)
    desk.time_passes()
    assert len(desk.placement.started) == 2
    (told,) = [record for record in caplog.records if worker.name in record.getMessage()]
    assert told.levelname == "ERROR"
