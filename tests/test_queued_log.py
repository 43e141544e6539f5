"""The log has a thread of its own: who does not read it keeps nobody from working."""

import errno
import io
import logging
import threading
from collections.abc import Generator

import pytest

from showcaller.queued_log import QueuedHandler

LIMIT = 20.0


class Stuck(io.StringIO):
    """Takes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.let_go = threading.Event(), threading.Event()

    def write(self, text: str, /) -> int:
        self.reached.set()
        assert self.let_go.wait(LIMIT)
        return super().write(text)


@pytest.fixture
def stuck() -> Generator[Stuck]:
    stream = Stuck()
    yield stream
    stream.let_go.set()


def logger_to(handler: logging.Handler) -> logging.Logger:
    logger = logging.getLogger(f"test {id(handler)}")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    return logger


def test_records_are_written_in_order() -> None:
    stream = io.StringIO()
    handler = QueuedHandler(stream)
    log = logger_to(handler)
    for number in range(1000):
        log.info("line %d", number)
    handler.close()
    assert stream.getvalue().splitlines() == [f"line {number}" for number in range(1000)]


def test_a_stream_that_takes_nothing_stops_nobody_and_what_is_dropped_is_counted(stuck: Stuck) -> None:
    handler = QueuedHandler(stuck, most=10)
    log = logger_to(handler)
    log.info("first")
    assert stuck.reached.wait(LIMIT)
    for number in range(25):
        log.info("line %d", number)
    stuck.let_go.set()
    handler.close()
    *kept, told = stuck.getvalue().splitlines()
    assert kept == ["first", *(f"line {number}" for number in range(10))]
    assert told.startswith("15 lines of the log were dropped")


def test_a_reader_that_has_gone_costs_its_lines_and_nothing_else() -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise BrokenPipeError(errno.EPIPE, text)

    handler = QueuedHandler(Gone())
    log = logger_to(handler)
    log.info("to nobody")
    handler.flush()
    log.info("to nobody either")
    handler.close()
    assert log.handlers == [handler]
