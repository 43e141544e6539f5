"""Answering whoever waits for one of the relay's actors, if anybody does."""

from collections.abc import Iterable
from typing import Any

from showcaller.actors.runtime import Future

Reply = Future[Any] | None
"""The reply that somebody waits for, kept until there is an answer; None when the message was only told."""


def answer(reply: Reply, value: Any) -> None:
    """Give the answer; an exception is raised where it is waited for."""
    if reply is None:
        return
    if isinstance(value, Exception):
        reply.try_set_exception(value)
    else:
        reply.try_set(value)


def answer_all(replies: Iterable[Reply], value: Any) -> None:
    """Give all the same answer."""
    for reply in replies:
        answer(reply, value)
