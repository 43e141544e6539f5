"""Who sends with a full stack gets a RecursionError, and leaves an actor that still runs."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from showcaller.actors.runtime import Actor, ActorRef, Dispatcher, MailboxPolicy

PATIENCE = 10.0  # seconds; what is not there by then never comes


class Echo(Actor):
    registered = False

    def on_receive(self, message: Any) -> Any:
        return message


class PinnedEcho(Echo):
    pinned = True


class BoundedEcho(Echo):
    mailbox_limit: ClassVar[int | None] = 10_000
    mailbox_policy: ClassVar[MailboxPolicy] = "drop_newest"


SENDING: dict[str, Callable[[ActorRef[Any]], object]] = {
    "tell": lambda ref: ref.tell(1),
    "ask": lambda ref: ref.ask(1, block=False),
    "request": lambda ref: ref.request(1, timeout=60.0),
    "start another": lambda _: Echo.start(),
    "order": lambda ref: ref.post_system(Nothing()),
}


class Nothing:
    """An order that is carried out at once."""

    def carry_out(self, cell: Any, actor: Any) -> bool:
        return True


def at_every_depth(act: Callable[[], object]) -> None:
    """Act where the stack is full, and then wherever it still does not suffice."""
    try:
        at_every_depth(act)
    except RecursionError:
        act()


@pytest.mark.parametrize("sending", SENDING)
@pytest.mark.parametrize("kind", [Echo, PinnedEcho, BoundedEcho])
def test_an_actor_runs_on_that_was_sent_to_with_a_full_stack(
    sending: str, kind: type[Echo], threads: Dispatcher
) -> None:
    for _ in range(5):
        ref = kind.start()
        ref.ask("begun", timeout=PATIENCE)
        at_every_depth(lambda: SENDING[sending](ref))  # noqa: B023
        assert ref.ask("asked", timeout=PATIENCE) == "asked"
        ref.stop(timeout=PATIENCE)
