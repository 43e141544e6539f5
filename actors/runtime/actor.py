"""The actor: pykka's, run by a shared dispatcher instead of a thread of its own."""

import logging
from typing import Any, ClassVar, Self

import pykka

from showcaller.actors.runtime.context import here
from showcaller.actors.runtime.dispatcher import default_dispatcher
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.ref import ActorRef
from showcaller.actors.runtime.registry import RUNNING

logger = logging.getLogger("pykka")


class Actor(pykka.Actor):
    """An actor that costs a few hundred bytes while it is idle, and no thread.

    Subclass it as you would ``pykka.ThreadingActor``. ``on_receive``, ``on_start`` and methods called
    through a proxy may be ``async def``; they may await the runtime's futures.
    """

    reentrant: ClassVar[bool] = False
    """Whether the actor takes other messages while one of its ``async`` handlers waits."""

    registered: ClassVar[bool] = True
    """Whether the actor is listed in ``pykka.ActorRegistry``, and stopped by ``stop_all``."""

    use_daemon_thread: ClassVar[bool] = False
    """Whether the program may end while this actor has mail (pykka's name for it)."""

    _actor_ref: ActorRef[Any] | None = None  # type: ignore[assignment]

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        if self._actor_ref is None:
            dispatcher = here.dispatcher
            self._actor_ref = ActorRef(self, default_dispatcher() if dispatcher is None else dispatcher)

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> ActorRef[Self]:  # type: ignore[override]
        """Make the actor, register it, and let it run; gives its ref.

        It runs on the dispatcher of the handler that starts it, of the surrounding ``with dispatcher:``,
        or else on the process's own. The arguments are those of the class.
        """
        actor = cls(*args, **kwargs)
        ref = actor._actor_ref
        assert ref is not None, "Actor.__init__() was not called: call super().__init__() in yours"
        if cls.registered:
            RUNNING.append(ref)
        ref._dispatcher.schedule(ref)
        return ref

    def _unregister(self) -> None:
        if self.registered and RUNNING.discard(self.actor_ref):
            logger.debug("Unregistered %s", self.actor_ref)

    @property
    def actor_ref(self) -> ActorRef[Self]:  # type: ignore[override]
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
