"""What the store's answers and other errors mean to whoever asked: the refusals of the contract."""

import logging
from uuid import uuid4

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.runtime import ActorDeadError
from showcaller.store.batch import Answer
from showcaller.store.errors import StoreError

logger = logging.getLogger("showcaller.relay")


class OneTooMany(Refusal):
    """An agent has sent as many prompts to others as it may unasked: the owner has to be asked first."""

    def __init__(self) -> None:
        super().__init__(
            Code.APPROVAL_DENIED, "The owner of this relay has to be asked about this call. Nothing was done."
        )


class CheckedTooEarly(Refusal):
    """A session was given another mode since an agent's prompt for it was checked: that is done again."""

    def __init__(self) -> None:
        super().__init__(Code.BUSY, "The session was given another mode meanwhile. Nothing was sent.")


class WatcherBehind(Refusal):
    """What a watcher wanted stored does not fit to what the store has: it is to be looked at anew.

    ``conflict`` is ``moved`` (a subscription has ended, or has seen more), ``delivered`` (an event has
    reached the watcher already) or ``read`` (the message that was to be extended waits no more).
    """

    def __init__(self, conflict: str) -> None:
        super().__init__(Code.BUSY, "What is watched has changed meanwhile. Nothing was told.")
        self.conflict = conflict


_OF_WATCHERS = frozenset({"moved", "delivered", "read"})
_CONFLICTS = {
    "missing": Code.NOT_FOUND,
    "archived": Code.NOT_FOUND,
    "queue": Code.QUEUE_LIMIT,
    "client_id": Code.INVALID_INPUT,
    "group": Code.UNKNOWN_GROUP,
    "busy": Code.BUSY,
    "subscriptions": Code.SUBSCRIPTION_LIMIT,
}

_WAYS_OUT = {
    "queue": " Wait until one of them has run, or send to another session.",
    "busy": " Wait until it is idle, or stop it.",
    "group": " relay_info lists the groups there are; without group a session stands alone.",
}


def refusal_of(answer: Answer) -> Refusal | None:
    """Give the refusal that an answer of the writer amounts to; None for a committed command."""
    if answer.error is None:
        return None
    detail = answer.detail or "no reason given"
    if answer.error == "storage":
        return storage_refusal(answer)
    if answer.error == "conflict" and answer.value == "unasked":
        return OneTooMany()
    if answer.error == "conflict" and answer.value in _OF_WATCHERS:
        return WatcherBehind(answer.value)
    if answer.error == "conflict" and answer.value in _CONFLICTS:
        way_out = _WAYS_OUT.get(answer.value, "")
        return Refusal(
            _CONFLICTS[answer.value], f"Nothing was done: {detail}{'.' if way_out else ''}{way_out}"
        )
    return _mistake(f"a command was answered {answer.error} {answer.value!r}: {detail}", None)


def storage_refusal(answer: Answer) -> Refusal:
    """Give the refusal of a command that the disk, or the file on it, did not let through."""
    return Refusal(Code.STORAGE, f"Nothing was stored: {answer.detail or 'no reason given'}")


def refusal_for(error: BaseException) -> Refusal:
    """Give an error as the refusal that a caller may read; what is a mistake of ours goes into the log."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, StoreError):
        return Refusal(Code.STORAGE, f"The store cannot be read: {error}")
    if isinstance(error, ActorDeadError):
        return Refusal(
            Code.INTERNAL,
            f"The part of this relay that was asked has ended: {error}. See what came of it before you "
            "repeat it.",
        )
    return _mistake(f"{type(error).__name__}: {error}", error)


def _mistake(what: str, error: BaseException | None) -> Refusal:
    reference = uuid4().hex[:12]
    logger.error("A mistake, reference %s: %s", reference, what, exc_info=error)
    return Refusal(Code.INTERNAL, f"The relay made a mistake; its log has it under {reference}.")
