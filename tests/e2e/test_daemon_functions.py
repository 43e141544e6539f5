"""Python functions through a relay that runs: as without one, except that a crash costs one item."""

import json

from tests.e2e.daemon import living_workers, serving
from tests.e2e.program import Showcaller

JOBS = """
import os, signal

def work(item):
    print("at", item)
    if item == "leave":
        os._exit(7)
    if item == "fault":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "fail":
        raise ValueError("not this one")
    return {"item": item, "folder": os.getcwd()}
"""


def test_a_function_that_crashes_costs_its_item_and_neither_the_others_nor_the_worker(
    showcaller: Showcaller,
) -> None:
    (showcaller.folder / "jobs.py").write_text(JOBS)
    items = ("a", "leave", "b", "fault", "c", "fail", "d")
    with serving(showcaller) as daemon:
        workers = [card.name for card in living_workers(daemon.home)]
        ended = showcaller("fanout", "--callable", "jobs:work", *items, "--jobs", "1", "--json")
        assert [card.name for card in living_workers(daemon.home)] == workers
    assert ended.code == 1
    for item in "abcd":
        result = ended.by_item[item]
        assert (result["status"], json.loads(result["reply"])["item"]) == ("done", item)
        assert json.loads(result["reply"])["folder"] == str(showcaller.folder)
    assert {item: ended.by_item[item]["error"].splitlines()[0] for item in ("leave", "fault", "fail")} == {
        "leave": "its process exited with code 7 before the function returned",
        "fault": "its process ended by signal SIGKILL (9) before the function returned",
        "fail": "ValueError: not this one",
    }


def test_functions_that_share_a_process_each_get_their_own_result(showcaller: Showcaller) -> None:
    (showcaller.folder / "jobs.py").write_text("def twice(item):\n    return item * 2\n")
    lines = "".join(f"{number}\n" for number in range(300))
    with serving(showcaller):
        ended = showcaller(
            "fanout", "--callable", "jobs:twice", "--input", "-", "--json", "--jobs", "64", stdin=lines
        )
    assert ended.code == 0
    assert {result["item"]: result["reply"] for result in ended.results} == {
        number: str(2 * number) for number in range(300)
    }
