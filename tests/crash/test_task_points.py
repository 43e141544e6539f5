"""Workers and relays that end between any two words about a background task: each has its one end."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from showcaller.actors.contract.worker import TaskStarted
from tests.crash.points_runs import EVERYWHERE, ends_at, fired
from tests.simulation.books import Books
from tests.simulation.promises_of_turns import broken_tasks
from tests.simulation.runs import fast_place
from tests.simulation.stored import Stored

PROMPTS = 5
LEAVES = ("{ (sleep 0.4; echo begun; sleep 0.4; echo over) & }",)
WHOLE = "begun\nover\n"
IN_RELAY = tuple(
    f"workers.{way}.{when}"
    for way in ("send.task_stored", "deliver.task_started", "deliver.task_output", "deliver.task_ended")
    for when in ("before", "after")
)
IN_WORKER = tuple(
    f"worker.{way}.{when}"
    for way in ("receive.task_stored", "send.task_started", "send.task_output", "send.task_ended")
    for when in ("before", "after")
)
AGAIN = (
    "workers.deliver.task_started.after@2,worker.receive.ask_task.before@1",
    "workers.deliver.task_started.after@2,worker.receive.ask_task.after@1",
    "workers.deliver.turn_ended.after@2,worker.send.task_output.before@2",
)
"""What is asked of a task is only heard when a relay has ended before."""
SINGLE = [f"{point}@2" for point in (*IN_RELAY, *IN_WORKER)]
CHOSEN = [*SINGLE, *AGAIN] if EVERYWHERE else [*SINGLE[1::5], AGAIN[1]]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("armed", CHOSEN)
def test_a_process_that_ends_there_loses_no_task(armed: str) -> None:
    with TemporaryDirectory(prefix="showcaller-points-", dir=fast_place()) as folder:
        place = Path(folder)
        callers, broken = ends_at(place, armed, PROMPTS, LEAVES)
        assert broken == []
        assert fired(place), "no process has come there"
        assert callers.ends["done end"] > 0
        worker_died = any(name.startswith("worker.") for name in fired(place))
        assert broken_in(Stored(place / "home" / "relay.db"), worker_died=worker_died) == []


def broken_in(stored: Stored, *, worker_died: bool) -> list[str]:
    """Give what is wrong with the tasks that are stored."""
    books = Books()
    for row in stored.tasks:
        started = TaskStarted(
            session=row["session"], task=row["worker_task"], type=row["type"], description=row["description"]
        )
        books.tasks[started.session, started.task] = started
    books.excused_tasks.update(books.tasks)
    broken = list(broken_tasks(stored, books, over=True))
    ends = {row["message"]: (row["status"], row["tail"]) for row in stored.tasks}
    for prompt in stored.prompts:
        end = ends.get(prompt["id"])
        if end == ("done", WHOLE) or (worker_died and (end is None or end[0] == "interrupted")):
            continue
        broken.append(f"{prompt['id']} is {prompt['status']}, and its task {end}")
    return broken
