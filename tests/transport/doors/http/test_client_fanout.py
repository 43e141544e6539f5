"""A fan-out is followed from relay to relay, and every item is told once, whatever is told again."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.http.channel import Channel, RelayGone
from showcaller.transport.doors.http.client_fanout import FollowedFanout
from showcaller.transport.doors.http.returning import Return

SPEC = {"kind": "command", "template": "echo {}", "provider": "command", "jobs": 1, "cwd": "/"}
Script = list[dict[str, Any] | Exception]


def told(after: int, number: int, **more: Any) -> dict[str, Any]:
    result = {"item": f"item {number}", "session": "ses_a", "status": "done", "reply": "x", **more}
    return {"after": after, "number": number, "result": result}


def end(refusal: Refusal | None = None) -> dict[str, Any]:
    return {"end": {"error": None if refusal is None else refusal.to_result()}}


def begun(run: str) -> dict[str, Any]:
    return {"group": "grp_a", "run": run, "name": "name", "total": 3, "spec": SPEC}


class Scripted:
    """A channel to relays that tell what a test says, one list for each time that they are asked."""

    def __init__(self, home: Path, scripts: list[Script], runs: list[str | Exception]) -> None:
        self.home = home
        self.scripts = scripts
        self.runs = runs
        self.paths: list[str] = []
        self.bodies: list[Any] = []
        self.comes_back = True

    @contextmanager
    def lines(self, path: str) -> Generator[Iterator[dict[str, Any]]]:
        self.paths.append(path.partition("?")[2])
        script = self.scripts.pop(0)

        def each() -> Iterator[dict[str, Any]]:
            for line in script:
                if isinstance(line, Exception):
                    raise line
                yield line

        yield each()

    def asked(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        self.bodies.append((path, body))
        if path.endswith("/stop"):
            return {"ok": True}
        run = self.runs.pop(0)
        if isinstance(run, Exception):
            raise run
        return begun(run)

    def await_return(self, returning: Return, gone: RelayGone) -> bool:
        return self.comes_back


def followed(home: Path, scripts: list[Script], *runs: str | Exception) -> tuple[FollowedFanout, Scripted]:
    channel = Scripted(home, scripts, list(runs))
    return FollowedFanout(cast(Channel, channel), begun("first"), rerun=False), channel


def test_a_cut_connection_is_taken_up_at_its_place(tmp_path: Path) -> None:
    scripts: list[Script] = [[told(1, 2), RelayGone("cut")], [told(2, 1), told(3, 3), end()]]
    run, channel = followed(tmp_path, scripts, "first")
    assert [result.number for result in run.results()] == [2, 1, 3]
    assert channel.paths == ["run=first&after=0", "run=first&after=1"]
    assert channel.bodies == [("/api/fanouts/resume", {"group": "grp_a", "rerun": False})]
    assert list(run.results()) == []


def test_the_next_relay_is_asked_from_the_beginning_and_nothing_is_told_twice(tmp_path: Path) -> None:
    scripts: list[Script] = [
        [told(1, 2), {"started": 2, "running": 1}, RelayGone("killed")],
        [told(1, 1), told(2, 2), told(3, 3, truncated=True), end()],
    ]
    run, channel = followed(tmp_path, scripts, RelayGone("not yet"), "second")
    assert [result.number for result in run.results()] == [2, 1, 3]
    assert channel.paths == ["run=first&after=0", "run=second&after=0"]
    assert (run.started, run.running) == (2, 1)


def test_a_relay_that_ends_and_leaves_its_turns_is_waited_for(tmp_path: Path) -> None:
    stopping = Refusal(Code.UNAVAILABLE, "This relay is stopping.")
    scripts: list[Script] = [[told(1, 1), end(stopping)], [told(1, 1), told(2, 2), told(3, 3), end()]]
    run, _ = followed(tmp_path, scripts, "second")
    assert [result.number for result in run.results()] == [1, 2, 3]


def test_a_stream_that_ends_too_soon_is_taken_up_again(tmp_path: Path) -> None:
    run, _ = followed(tmp_path, [[told(1, 1)], [told(2, 2), told(3, 3), end()]], "first")
    assert [result.number for result in run.results()] == [1, 2, 3]


def test_what_ended_the_fan_out_is_raised_after_the_results(tmp_path: Path) -> None:
    run, _ = followed(tmp_path, [[told(1, 1), end(Refusal(Code.STORAGE, "The disk is full."))]])
    results = run.results()
    assert next(results).number == 1
    with pytest.raises(Refusal, match="The disk is full"):
        next(results)


def test_a_relay_that_does_not_come_back_is_told(tmp_path: Path) -> None:
    run, channel = followed(tmp_path, [[RelayGone("It is gone.")]])
    channel.comes_back = False
    with pytest.raises(Refusal, match=r"It is gone\.") as refused:
        list(run.results())
    assert refused.value.code is Code.UNAVAILABLE


def test_after_a_stop_nobody_waits_for_a_relay(tmp_path: Path) -> None:
    run, channel = followed(tmp_path, [[told(1, 1), RelayGone("It is gone.")]])
    results = run.results()
    assert next(results).number == 1
    run.stop()
    run.stop()
    with pytest.raises(Refusal, match=r"It is gone\."):
        next(results)
    assert channel.bodies == [("/api/fanouts/grp_a/stop", None)] * 2
