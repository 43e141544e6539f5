"""The actor: pykka's, run by a shared dispatcher instead of a thread of its own."""

import inspect
from _thread import start_new_thread
from typing import Any, ClassVar, Self

import pykka

from showcaller.actors.runtime.context import current_dispatcher
from showcaller.actors.runtime.doubt import look_after
from showcaller.actors.runtime.ending import end_unborn
from showcaller.actors.runtime.exits import Exit
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.mailbox_terms import MailboxPolicy, refuse_nonsense, refuse_own
from showcaller.actors.runtime.program import default_dispatcher
from showcaller.actors.runtime.ref import ActorRef, refuse_foreign
from showcaller.actors.runtime.registry import RUNNING
from showcaller.actors.runtime.spawning import make_ref
from showcaller.actors.runtime.unfailing_log import UnfailingLogger

logger = UnfailingLogger("pykka")


class Actor(pykka.Actor):
    """An actor that costs a few hundred bytes while it is idle, and no thread.

    Subclass it as you would ``pykka.ThreadingActor``. ``on_receive``, ``on_start`` and methods called
    through a proxy may be ``async def``; they may await the runtime's futures. When the actor ends while
    such a coroutine waits, ``GeneratorExit`` is raised in it, so its ``finally`` blocks run.
    """

    reentrant: ClassVar[bool] = False
    """Whether the actor takes other messages while one of its ``async`` handlers waits."""

    registered: ClassVar[bool] = True
    """Whether the actor is listed in ``pykka.ActorRegistry``, and stopped by ``stop_all``.

    Supervised actors are not, whatever this says: their supervisor stops them.
    """

    use_daemon_thread: ClassVar[bool] = False
    """Whether the program may end while this actor has mail (pykka's name for it)."""

    pinned: ClassVar[bool] = False
    """Whether the actor has a thread of its own, because it blocks by nature."""

    mailbox_limit: ClassVar[int | None] = None
    """How many messages may wait (at least 1); None for as many as memory holds."""

    mailbox_policy: ClassVar[MailboxPolicy] = "refuse"
    """What happens to a message that finds the mailbox full.

    ``refuse``: ``tell`` raises ``MailboxFull``. ``drop_newest``: what was told becomes a dead letter.
    ``drop_oldest``: the message that waits longest makes room; told, it becomes a dead letter, asked, it is
    answered with ``MailboxFull``, as is an ``ask`` that finds no room under the other two. Orders to stop
    always find room, and the message being handled does not count.
    """

    _actor_ref: ActorRef[Any] | None = None  # type: ignore[assignment]
    _made_by_metaclass: ClassVar[bool] = False  # whose own affair it is then what its making leaves behind

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._made_by_metaclass = type(cls).__call__ is not type.__call__
        for hook in (cls.on_stop, cls.on_failure):
            if inspect.iscoroutinefunction(hook):
                raise TypeError(f"{hook.__qualname__} cannot be async: the actor takes no replies any more")
        _refuse_generators(cls)
        refuse_nonsense(cls)

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        if self._actor_ref is None:  # a supervised actor has its ref before it is made
            dispatcher = current_dispatcher() or default_dispatcher()
            dispatcher.refuse_start(type(self))
            plain = type(self).mailbox_limit is None and not self.pinned  # mostly, and then a call less
            self._actor_ref = ActorRef(self, dispatcher) if plain else make_ref(self, dispatcher)

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> ActorRef[Self]:
        """Make the actor, register it, and let it run; gives its ref.

        It runs on the dispatcher of the handler that starts it, of the surrounding ``with dispatcher:``,
        or else on the process's own; raises ``DispatcherClosed`` when that was closed. The arguments are
        those of the class.
        """
        if cls._made_by_metaclass:
            actor = cls(*args, **kwargs)
        else:  # the same in two steps, as a failing __init__ may have handed out the ref
            actor = cls.__new__(cls, *args, **kwargs)
            try:
                actor.__init__(*args, **kwargs)  # type: ignore[misc]
            except BaseException as error:
                if actor._actor_ref is not None:
                    end_unborn(actor._actor_ref, actor, error)
                raise
        ref = actor._actor_ref
        assert ref is not None, "Actor.__init__() was not called: call super().__init__() in yours"
        try:
            refuse_own(actor)
        except TypeError as error:
            end_unborn(ref, actor, error)
            raise
        try:
            if cls.registered:
                RUNNING.append(ref)
            ref._dispatcher.schedule(ref)
        except RecursionError:
            start_new_thread(look_after, (ref,), {"starting": True})
            raise
        except BaseException:
            look_after(ref, starting=True)
            raise
        return ref

    def watch(self, ref: ActorRef[Any]) -> None:
        """Get one ``Terminated`` message when ``ref`` ends for good, or now if it has.

        A restart is no end: the watch stays, and nothing is told. Raises ``TypeError`` for a ref of pykka's.
        """
        refuse_foreign(ref)
        ref.add_watcher(self.actor_ref)

    def unwatch(self, ref: ActorRef[Any]) -> None:
        """Get none; one may be in the mailbox already."""
        refuse_foreign(ref)
        ref.remove_watcher(self.actor_ref)

    def _puts_off_stop(self, order: Any) -> bool:
        """Give True to keep an order to stop for later; then it has to be posted again."""
        return False

    def _life_over(self, reason: Exit) -> None:
        """Settle what this life still owes to others; called last, however the life ended."""

    def _unregister(self) -> None:
        if self.registered and RUNNING.discard(self.actor_ref):
            logger.debug("Unregistered %s", self.actor_ref)

    @property
    def actor_ref(self) -> ActorRef[Self]:
        """The actor's own ref."""
        ref = self._actor_ref
        assert ref is not None, "Actor.__init__() was not called: call super().__init__() in yours"
        return ref

    @property
    def actor_urn(self) -> str:  # type: ignore[override]
        """A unique name, made when first asked for."""
        return self.actor_ref.actor_urn

    @property
    def actor_inbox(self) -> Any:  # type: ignore[override]
        """The mailbox."""
        return self.actor_ref

    @property
    def actor_stopped(self) -> Any:  # type: ignore[override]
        """An event that is set once the actor has stopped."""
        return self.actor_ref.actor_stopped

    # pykka's abstract parts: what they make stands in the cell.

    @staticmethod
    def _create_actor_inbox() -> Any:
        raise NotImplementedError("the mailbox is part of the ref")

    @staticmethod
    def _create_future() -> Future[Any]:
        return Future()

    def _start_actor_loop(self) -> None:
        self.actor_ref._dispatcher.schedule(self.actor_ref)


def _refuse_generators(actor_class: type[Actor]) -> None:
    """Raise ``TypeError`` for a handler or a hook with ``yield``: it would never run."""
    hooks = (actor_class.on_start, actor_class.on_stop, actor_class.on_failure)
    never_run: list[Any] = [
        hook for hook in (*hooks, actor_class.on_receive) if inspect.isasyncgenfunction(hook)
    ]
    never_run += [hook for hook in hooks if inspect.isgeneratorfunction(hook)]
    if never_run:
        raise TypeError(f"{never_run[0].__qualname__} would never run: it has a yield, which nobody asks for")
