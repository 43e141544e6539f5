"""All rooms' records become one line each, and none of them holds the token."""

import io
import json
import logging
from collections.abc import Generator

import pytest
import structlog

from showcaller import logs

TOKEN = "owner-token-0123456789"


@pytest.fixture
def stream() -> Generator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield io.StringIO()
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_records_of_the_standard_library_and_ours_look_alike(stream: io.StringIO) -> None:
    handler = logs.configure("json", TOKEN, stream)
    logging.getLogger("showcaller.relay").warning("%d turns were cut", 3)
    structlog.stdlib.get_logger("showcaller.daemon").info("ready", port=8321)
    handler.flush()
    first, second = lines(stream)
    assert (first["event"], first["level"], first["logger"]) == (
        "3 turns were cut",
        "warning",
        "showcaller.relay",
    )
    assert (second["event"], second["port"], second["logger"]) == ("ready", 8321, "showcaller.daemon")
    assert str(first["timestamp"]).endswith("Z")


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_token_is_hidden_wherever_it_stands(stream: io.StringIO, form: logs.LogForm) -> None:
    handler = logs.configure(form, TOKEN, stream)
    log = logging.getLogger("showcaller.http")
    log.warning("it is %s", TOKEN)
    log.warning("with more", extra={"headers": [("authorization", f"Bearer {TOKEN}")]})
    try:
        raise ValueError(f"Bearer {TOKEN}")
    except ValueError:
        log.exception("a mistake")
    structlog.stdlib.get_logger("showcaller.daemon").info("ready", token=TOKEN, path={"a": TOKEN})
    handler.flush()
    assert TOKEN not in stream.getvalue()
    assert stream.getvalue().count(logs.HIDDEN) == 5


def test_a_traceback_has_no_values_of_variables(stream: io.StringIO) -> None:
    handler = logs.configure("json", TOKEN, stream)
    prompt = "the secret of the prompt"
    try:
        _ = [0][len(prompt)]
    except IndexError:
        logging.getLogger("showcaller.relay").exception("a mistake")
    handler.flush()
    (line,) = lines(stream)
    assert "IndexError" in str(line["exception"])
    assert "secret" not in stream.getvalue()


def test_what_is_below_information_is_left_out(stream: io.StringIO) -> None:
    handler = logs.configure("json", TOKEN, stream)
    logging.getLogger("showcaller.actors").debug("a dead letter")
    handler.flush()
    assert stream.getvalue() == ""
