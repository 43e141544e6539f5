"""Making refs: the kind that an actor class needs, and those of supervised actors before their first life."""

from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.bounded import BoundedRef
from showcaller.actors.runtime.extras import extras_lock
from showcaller.actors.runtime.handler import LIMBO
from showcaller.actors.runtime.lineage import Link
from showcaller.actors.runtime.orders import Begin, unborn
from showcaller.actors.runtime.ref import ActorRef

if TYPE_CHECKING:
    from showcaller.actors.runtime.actor import Actor
    from showcaller.actors.runtime.base_dispatcher import BaseDispatcher


def make_ref(actor: "Actor", dispatcher: "BaseDispatcher") -> ActorRef[Any]:
    """Make the ref of an actor, to run on ``dispatcher``, or on a thread of its own if it is pinned."""
    if actor.pinned:
        dispatcher = dispatcher.pin()
    if type(actor).mailbox_limit is None:
        return ActorRef(actor, dispatcher)
    return BoundedRef(actor, dispatcher)


def spawn(begin: Begin, supervisor: ActorRef[Any], link: Link) -> ActorRef[Any]:
    """Make the ref of a supervised actor with the order for its first life, for the caller to schedule.

    What happens is told to the supervisor. Raises what the class raises that cannot be made at all.
    """
    actor = unborn(begin.recipe, None)
    ref = actor._actor_ref = make_ref(actor, supervisor.dispatcher.unpinned())
    ref.take_all()  # the order to start: a supervised actor gets another one
    ref._hold = LIMBO
    ref.extras().link = link
    parent = supervisor.extras()
    with extras_lock:
        if parent.children is None:
            parent.children = {}
        parent.children[ref] = None
    ref._system_mail().append(begin)
    return ref
