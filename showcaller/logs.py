"""What the daemon writes about itself: all rooms' log records, as JSON or as text, on standard error."""

import logging
from collections.abc import Mapping, MutableMapping
from typing import Any, Final, Literal, TextIO

import structlog
from structlog.typing import Processor

from showcaller.queued_log import QueuedHandler

LogForm = Literal["text", "json"]
HIDDEN: Final = "[the owner's token]"


class TokenVeil:
    """Keeps a secret out of every record, whoever wrote it there."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __call__(self, logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        """Give the record without the secret."""
        return {key: self._veiled(value) for key, value in event.items()}

    def _veiled(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(self._secret, HIDDEN)
        if isinstance(value, int | float | bool | None):
            return value
        text = repr(value)
        return text.replace(self._secret, HIDDEN) if self._secret in text else value


def configure(form: LogForm, secret: str, stream: TextIO) -> QueuedHandler:
    """Let all records of this process go to ``stream``, one line of JSON each or as text.

    Gives what writes them, on a thread of its own. No record holds ``secret``. Tracebacks are without the
    values of variables: those may be prompts.
    """
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        TokenVeil(secret),
    ]
    rendered: Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=stream.isatty(), pad_event_to=0)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
    )
    handler = QueuedHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("pykka").setLevel(logging.WARNING)  # it tells of every error that an asker is given
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return handler
