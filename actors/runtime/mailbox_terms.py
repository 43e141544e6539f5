"""What an actor class declares about its mailbox, checked when the class is made and when an actor starts."""

from typing import Any, Literal, get_args

from showcaller.actors.runtime.choices import is_a, refuse_unknown

MailboxPolicy = Literal["refuse", "drop_newest", "drop_oldest"]


def refuse_nonsense(actor_class: type[Any]) -> None:
    """Raise ``TypeError`` or ``ValueError`` for a limit or a policy that no mailbox can have."""
    name = actor_class.__name__
    refuse_unknown(f"{name}.mailbox_policy", actor_class.mailbox_policy, get_args(MailboxPolicy))
    limit = actor_class.mailbox_limit
    if limit is None:
        return
    if not is_a(limit, int) or limit is True or limit is False:
        raise TypeError(f"{name}.mailbox_limit must be a whole number or None, not {limit!r}")
    if limit < 1:
        raise ValueError(f"{name}.mailbox_limit must be at least 1, not {limit}")


def refuse_own(actor: Any) -> None:
    """Raise ``TypeError`` if one actor has terms of its own, which would come too late for its mailbox."""
    actor_class = type(actor)
    for declared in ("mailbox_limit", "mailbox_policy"):
        if getattr(actor, declared) != getattr(actor_class, declared):
            raise TypeError(
                f"{actor_class.__name__} sets self.{declared}, which its mailbox does not see: declare it in "
                "the class, or in a subclass"
            )
