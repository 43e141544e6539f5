"""A daemon, its writer and its workers killed at random lose nothing, run nothing twice and leave nothing."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.crash.callers import Callers, Sent
from tests.crash.random_deaths import RandomDeaths
from tests.crash.victims import Victims
from tests.simulation.runs import fast_place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_processes_killed_at_random_lose_nothing_run_nothing_twice_and_leave_nothing() -> None:
    with TemporaryDirectory(prefix="showcaller-deaths-", dir=fast_place()) as place:
        deaths = RandomDeaths(Path(place), seed=11)
        assert deaths.run(300, most=12) == []
        assert deaths.deaths.total() == 12
        assert deaths.callers.ends["done end"] > 0


@pytest.mark.parametrize(
    ("ran", "broken"),
    [
        ("1\n2\n3\n", []),
        ("1\n2\n2\n", ["prompt 2 ran 2 times", "ses_a ran [1, 2, 2], accepted were [1, 2]"]),
        ("2\n1\n", ["ses_a ran [2, 1], accepted were [1, 2]"]),
        ("1\n4\n", ["prompt 4 ran though it was never acknowledged"]),
    ],
    ids=["all well", "twice", "out of order", "never sent"],
)
def test_what_must_not_happen_is_seen(ran: str, broken: list[str], tmp_path: Path) -> None:
    callers = Callers(Victims(tmp_path), tmp_path, random.Random(1))
    callers.sent = [Sent(1, "ses_a", "msg_a"), Sent(2, "ses_a", "msg_b"), Sent(3, "ses_b", "msg_c")]
    (tmp_path / "ran").write_text(ran)
    assert callers.broken_by_commands() == broken


def test_a_prompt_with_another_end_than_it_may_have_is_seen(tmp_path: Path) -> None:
    callers = Callers(Victims(tmp_path), tmp_path, random.Random(1))
    sent = Sent(1, "ses_a", "msg_a")
    assert callers.check_end(sent, {"status": "done", "reply": {"text": "end 1\n"}}) == [
        "prompt 1 is done and ran 0 times"
    ]
    (tmp_path / "ran").write_text("1\n")
    assert callers.check_end(sent, {"status": "done", "reply": {"text": "end 1\n"}}) == []
    assert callers.check_end(sent, {"status": "failed", "stopReason": "interrupted"}) == []
    assert "another's" in callers.check_end(sent, {"status": "done", "reply": {"text": "end 2\n"}})[0]
    assert "no end" in callers.check_end(sent, {"status": "running"})[0]
    assert "no reason" in callers.check_end(sent, {"status": "failed", "stopReason": "died"})[0]
