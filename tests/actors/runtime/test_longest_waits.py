"""Who is ready to wait longer than a lock can be waited for waits as long as that."""

from typing import Any

import pytest

from showcaller.actors.runtime import Actor, Dispatcher, Future


class Echo(Actor):
    registered = False

    def on_receive(self, message: Any) -> Any:
        return message() if callable(message) else message


@pytest.mark.parametrize("seconds", [1e10, 9e10])
class TestLongestWaits:
    def test_an_ask_is_answered(self, seconds: float, threads: Dispatcher) -> None:
        assert Echo.start().ask("asked", timeout=seconds) == "asked"

    def test_so_is_one_of_a_handler(self, seconds: float, threads: Dispatcher) -> None:
        echo = Echo.start()
        assert Echo.start().ask(lambda: echo.ask("asked", timeout=seconds), timeout=10) == "asked"

    def test_a_dispatcher_falls_quiet(self, seconds: float, threads: Dispatcher) -> None:
        slow: Future[str] = Future()
        Echo.start().tell(slow.get)
        echo = Echo.start()
        echo.tell(lambda: slow.set("there"))
        assert threads.wait_quiet(timeout=seconds)


def test_a_future_may_be_waited_for_without_end(threads: Dispatcher) -> None:
    assert Echo.start().request("asked").get(timeout=float("inf")) == "asked"
