"""What a program's own objects raise when they are looked at stops neither a reply nor the end of a life."""

import logging
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from showcaller.actors.runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ChildSpec,
    GetChild,
    StartChild,
    StartFailed,
    Supervisor,
    Terminated,
    take_reply,
)
from showcaller.actors.runtime.testkit import ManualDispatcher, probe
from showcaller.actors.runtime.unfailing_log import shown


class Unspeakable(Exception):
    """Has neither a ``repr`` nor a text."""

    def __repr__(self) -> str:
        raise AttributeError("no repr")

    def __str__(self) -> str:
        raise AttributeError("no text")


class UnspeakableFault(RuntimeError):
    """Nor has this one, of the kind that asyncio raises."""

    def __str__(self) -> str:
        raise AttributeError("no text")


@dataclass(frozen=True)
class Frozen(Exception):
    """Lets none of its attributes be set."""

    code: int


class Unhashable(type):  # noqa: PLW1641 - that is the point
    """The class of classes that cannot be looked up in a set."""

    def __eq__(cls, other: object) -> bool:
        return cls is other


class Thing:
    pass


class Odd(metaclass=Unhashable):
    pass


class Does(Actor):
    """Calls what it is told, and takes over the reply of ``"take"``."""

    registered = False

    def on_receive(self, message: Any) -> Any:
        if message == "take":
            self.taken = take_reply()
            return None
        return message() if callable(message) else message


class Fails(Actor):
    registered = False

    def on_start(self) -> None:
        raise Unspeakable


def throw(error: BaseException) -> Any:
    def thrower() -> None:
        raise error

    return thrower


ERRORS = [Unspeakable(), UnspeakableFault(), Frozen(3)]


@pytest.fixture(params=["filter", "handler"])
def raising_log(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let everything that the runtime logs raise, in a filter or a handler."""
    loggers = [logging.getLogger("pykka"), logging.getLogger("showcaller.actors")]

    class Raises(logging.Handler):
        def filter(self, record: logging.LogRecord) -> bool:
            raise ValueError("log")

    raises = Raises()
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        if request.param == "filter":
            logger.addFilter(raises)
        else:
            logger.addHandler(raises)
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.removeFilter(raises)
        logger.removeHandler(raises)
        logger.setLevel(level)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
class TestErrorsThatCannotBeShown:
    def test_the_end_of_a_life_is_done_whole(self, error: Exception, manual: ManualDispatcher) -> None:
        ref = Does.start()
        watcher, heard = probe()
        ref.add_watcher(watcher)
        owed = ref.request("take")
        manual.settle()
        ref.tell(throw(error))
        behind = ref.request(1)
        manual.settle()
        for reply in (owed, behind):
            with pytest.raises(ActorDeadError) as dead:
                reply.get()
            assert dead.value.__cause__ is error
        assert [type(message) for message in heard] == [Terminated]
        assert not ref._gate.locked()

    def test_a_child_is_restarted_and_its_supervisor_stops(
        self, error: Exception, manual: ManualDispatcher
    ) -> None:
        supervisor = Supervisor.start([ChildSpec("child", Does)])
        child: ActorRef[Does] = supervisor.ask(GetChild("child"))
        child.tell(throw(error))
        assert child.ask(1) == 1
        assert supervisor.stop()

    def test_a_coroutine_gives_it_to_who_asked(self, error: Exception, manual: ManualDispatcher) -> None:
        async def fails() -> None:
            raise error

        ref = Does.start()
        with pytest.raises(type(error)):
            ref.ask(fails)
        assert ref.ask(1) == 1


class TestStartsThatCannotBeShown:
    def test_a_failed_start_is_told_and_leaves_the_supervisor_alive(self, manual: ManualDispatcher) -> None:
        supervisor = Supervisor.start([ChildSpec("sibling", Does)])
        with pytest.raises(StartFailed, match="<Unspeakable, whose repr"):
            supervisor.ask(StartChild(ChildSpec("fails", Fails)))
        assert supervisor.ask(GetChild("sibling")).ask(1) == 1


class TestMessages:
    def test_a_message_that_refers_to_nothing_any_more_is_a_dead_letter(
        self, manual: ManualDispatcher
    ) -> None:
        ref = Does.start()
        thing = Thing()
        ref.tell(throw(KeyError()))
        ref.tell(weakref.proxy(thing))
        behind = ref.request(1)
        del thing
        manual.settle()
        with pytest.raises(ActorDeadError):
            behind.get()
        assert manual.dead_letters == 1

    def test_an_awaited_thing_that_cannot_be_shown_is_named_by_its_class(
        self, manual: ManualDispatcher
    ) -> None:
        class Awaited:
            def __await__(self) -> Any:
                yield self

            def __repr__(self) -> str:
                raise AttributeError("no repr")

        async def waits() -> None:
            await Awaited()

        with pytest.raises(Exception, match="awaited <Awaited, whose repr"):
            Does.start().ask(waits)

    def test_one_whose_class_cannot_be_hashed_does_not_hold_the_actor_for_ever(
        self, manual: ManualDispatcher
    ) -> None:
        ref = Does.start()
        ref.ask("begun")
        ref.tell(Odd())
        manual.settle()
        with pytest.raises(ActorDeadError):
            ref.ask(1)


@pytest.mark.usefixtures("raising_log")
class TestLogsThatRaise:
    def test_an_error_reaches_who_asked_and_the_actor_goes_on(self, manual: ManualDispatcher) -> None:
        ref = Does.start()
        with pytest.raises(KeyError):
            ref.ask(throw(KeyError()))
        assert ref.ask(1) == 1

    def test_a_failed_actor_ends_and_its_mail_is_refused(self, manual: ManualDispatcher) -> None:
        ref = Does.start()
        ref.tell(throw(KeyError()))
        with pytest.raises(ActorDeadError):
            ref.ask(1)

    def test_an_actor_stops(self, manual: ManualDispatcher) -> None:
        ref = Does.start()
        ref.tell("left over")
        assert ref.stop()
        assert not ref.is_alive()

    def test_a_future_runs_the_callbacks_behind_one_that_fails(self, manual: ManualDispatcher) -> None:
        reply = Does.start().request(1)
        heard: list[Any] = []
        reply.add_done_callback(lambda _: throw(KeyError())())
        reply.add_done_callback(heard.append)
        manual.settle()
        assert heard == [reply]


def test_what_a_log_raises_is_shown_on_standard_error(
    raising_log: None, manual: ManualDispatcher, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Does.start().stop()
    assert "ValueError: log" in capsys.readouterr().err


def test_what_can_be_shown_is_shown_as_it_is() -> None:
    assert shown("text") == "'text'"
