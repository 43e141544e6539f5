"""Background tasks in the books of the workers: who answers for them, and where their sessions stay."""

from showcaller.actors.contract.agent_messages import AgentState
from showcaller.actors.contract.worker import (
    FromWorkerMessage,
    RunTurn,
    TaskEnded,
    TaskStarted,
    TaskStored,
    TurnEnded,
    TurnStored,
)
from tests.transport.placement.desk import Desk


def run(session: str, turn: str) -> RunTurn:
    return RunTurn(session=session, turn=turn, provider="command", text="make watch &", background=True)


def started(session: str, task: str) -> TaskStarted:
    return TaskStarted(session=session, task=task, type="command", description="a server")


def ended(session: str, task: str) -> TaskEnded:
    return TaskEnded(session=session, task=task, outcome="done")


def over(session: str, turn: str) -> TurnEnded:
    return TurnEnded(session=session, turn=turn, outcome="done")


def test_background_tasks_of_a_dead_worker_are_interrupted_unless_they_had_ended(desk: Desk) -> None:
    pool = desk.open(2)
    workers = {worker.name: worker for worker in desk.placement.started}
    dies = desk.placement.started[0]
    sessions = [f"ses_{number}" for number in range(8)]
    at_it = [session for session in sessions if pool.place(session) == dies.name]
    assert 0 < len(at_it) < len(sessions)
    for session in sessions:
        worker = workers[pool.place(session) or ""]
        pool.send([run(session, f"turn of {session}")])
        told: list[FromWorkerMessage] = [started(session, task) for task in ("1", "2")]
        worker.link.say(*told, ended(session, "1"), over(session, f"turn of {session}"))
        pool.send([TurnStored(session=session, turn=f"turn of {session}")])
    desk.came.clear()
    desk.placement.died(dies.name)
    assert desk.came == [TaskEnded(session=session, task="2", outcome="interrupted") for session in at_it]


def test_a_session_stays_with_its_worker_until_the_ends_of_its_tasks_are_stored(desk: Desk) -> None:
    pool = desk.open()
    (worker,) = desk.placement.started
    pool.send([run("ses_a", "msg_a")])
    worker.link.say(started("ses_a", "1"), started("ses_a", "2"), over("ses_a", "msg_a"))
    pool.send([TurnStored(session="ses_a", turn="msg_a")])
    assert pool._books.sessions == 1
    worker.link.say(ended("ses_a", "1"), ended("ses_a", "2"))
    pool.send([TaskStored(session="ses_a", task="1")])
    assert pool._books.sessions == 1
    pool.send([TaskStored(session="ses_a", task="2")])
    assert pool._books.sessions == 0
    assert [message.kind for message in worker.link.sent[-2:]] == ["task_stored", "task_stored"]


def test_a_session_with_a_turn_stays_when_its_last_task_is_over(desk: Desk) -> None:
    pool = desk.open()
    (worker,) = desk.placement.started
    pool.send([run("ses_a", "msg_a")])
    worker.link.say(started("ses_a", "1"), ended("ses_a", "1"))
    pool.send([TaskStored(session="ses_a", task="1")])
    assert pool._books.sessions == 1
    pool.send([TurnStored(session="ses_a", turn="msg_a")])
    assert pool._books.sessions == 0


def test_a_task_of_an_earlier_relay_is_answered_for_from_its_start_on(desk: Desk) -> None:
    """Its worker may die before it has said a word to this relay."""
    pool = desk.open(2)
    first, second = (worker.name for worker in desk.placement.started)
    assert pool.expect_task("ses_a", "1", second)
    assert pool.place("ses_a") == second
    assert not pool.expect_task("ses_b", "1", "wrk_that_is_gone")
    desk.placement.died(first)
    assert desk.came == []
    desk.placement.died(second)
    assert desk.came == [TaskEnded(session="ses_a", task="1", outcome="interrupted")]


def test_a_session_stays_where_its_agent_process_is(desk: Desk) -> None:
    pool = desk.open(2)
    (first, second) = desk.placement.started
    for worker in (first, second):
        worker.link.say(AgentState(session="ses_a", state="alive"))
        assert pool.place("ses_a") == worker.name
        pool.send([run("ses_a", "msg_a")])
        worker.link.say(over("ses_a", "msg_a"))
        pool.send([TurnStored(session="ses_a", turn="msg_a")])
        assert pool._books.sessions == 1
        worker.link.say(AgentState(session="ses_a", state="none", why="idle"))
        assert pool._books.sessions == 0


def test_a_dead_worker_has_no_agents(desk: Desk) -> None:
    pool = desk.open()
    (worker,) = desk.placement.started
    worker.link.say(AgentState(session="ses_a", state="alive"))
    desk.placement.died(worker.name)
    assert pool._books.sessions == 0
    worker.link.say(AgentState(session="ses_a", state="alive"))
    assert pool._books.sessions == 0
