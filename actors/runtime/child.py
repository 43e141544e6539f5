"""A child as its supervisor keeps it."""

from math import inf
from typing import TYPE_CHECKING, Any

from showcaller.actors.runtime.child_spec import ChildSpec
from showcaller.actors.runtime.cycles import refuse_cycle
from showcaller.actors.runtime.envelope import OwnMail, Shutdown
from showcaller.actors.runtime.errors import StartFailed
from showcaller.actors.runtime.exits import SHUTDOWN, Exit
from showcaller.actors.runtime.handler import LIMBO, Blocked, break_off
from showcaller.actors.runtime.lineage import Link
from showcaller.actors.runtime.orders import Begin, GiveUp, Kill
from showcaller.actors.runtime.spawning import spawn
from showcaller.actors.runtime.supervisor_mail import ChildInfo, ChildState
from showcaller.actors.runtime.unfailing_log import UnfailingLogger
from showcaller.actors.runtime.waits import waits_of

if TYPE_CHECKING:
    from showcaller.actors.runtime.ref import ActorRef
    from showcaller.actors.runtime.timers import Timer

logger = UnfailingLogger("showcaller.actors")

GRACE = 1.0  # seconds after which a killed child is looked after, then twice as many, and so on
LONGEST_GRACE = 1000.0


class ShutdownOver(OwnMail):
    """Told to the supervisor by a timer: an ordered stop takes too long.

    ``all_heard``: what the child had told of its end when the time was over has been heard.
    """

    __slots__ = ("all_heard", "child", "order")

    def __init__(self, child: "Child", order: Shutdown, *, all_heard: bool = False) -> None:
        self.child = child
        self.order = order
        self.all_heard = all_heard


class BackoffOver(OwnMail):
    """Told by a timer: a child that waits, and who was stopped with it, may start again."""

    __slots__ = ("child",)

    def __init__(self, child: "Child") -> None:
        self.child = child


class NotMade(Exception):
    """A child has not even got a ref: its class is abstract, or its ``__new__`` raised."""

    def __init__(self, child: "Child", error: BaseException) -> None:
        super().__init__(child.name)
        self.child = child
        self.reason = Exit("unstarted", error)


class Child:
    """The specification of a child, its ref, its state, and the orders it was given.

    Used by the supervisor's own handlers only.
    """

    __slots__ = (
        "gone", "grace", "group", "keep", "life", "order", "ref", "restarts", "shutdown", "since", "spec",
        "state", "streak", "supervisor", "timer",
    )  # fmt: skip

    def __init__(self, spec: ChildSpec, supervisor: "ActorRef[Any]", shutdown: Any) -> None:
        self.spec = spec
        self.supervisor = supervisor
        self.shutdown = shutdown
        self.ref: ActorRef[Any] | None = None
        self.state: ChildState = "stopped"
        self.since = inf  # when it last started
        self.streak = 0  # restarts in a row without calm
        self.restarts = 0
        self.keep = False
        self.grace = GRACE
        self.gone = False  # no longer known to the supervisor: nothing starts it again
        self.life: Begin | None = None  # the order for the last one
        self.order: Shutdown | None = None
        self.timer: Timer | None = None  # of the shutdown time, or of the back-off
        self.group: list[str] = []  # who is started with it when the back-off is over

    @property
    def name(self) -> str:
        """The name in the specification."""
        return self.spec.name

    def info(self) -> ChildInfo:
        """Give what others may know."""
        return ChildInfo(self.name, self.ref, self.state, self.restarts)

    def delay(self, now: float) -> float:
        """Give how long to wait before one more restart, and count it."""
        backoff = self.spec.backoff
        if backoff is None:
            return 0.0
        if now - self.since >= backoff.calm:
            self.streak = 0
        self.streak += 1
        return backoff.delay(self.streak)

    # -- orders ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Order the first life of a new ref, or the next one of a ref that waits; raises ``NotMade``."""
        before, self.state = self.state, "starting"
        self.since = inf  # no time that it has run for until it has started
        if before == "waiting" and self.ref is not None:
            self.restarts += 1
            self.life = Begin(self.spec.recipe, again=True)
            self.ref.post_system(self.life)
            return
        link = Link(self.supervisor, self.name, self.spec.restart)
        self.life = Begin(self.spec.recipe, again=False)
        try:
            self.ref = ref = spawn(self.life, self.supervisor, link)
        except Exception as error:
            logger.exception("Unhandled exception in making child %r of %s:", self.name, self.supervisor)
            self.state = "stopped"
            raise NotMade(self, BaseException.with_traceback(error, None)) from None
        ref._dispatcher.schedule(ref)  # known here before it runs: who looks for a cycle sees who starts

    def stop(self, *, keep: bool) -> None:
        """Order a running child to end, and to ``keep`` its ref for a restart (not if it is temporary)."""
        ref = self.ref
        assert ref is not None
        self.state = "stopping"
        self.keep = keep and self.spec.restart != "temporary"
        self.order = Shutdown(keep=self.keep)
        self.grace = GRACE
        if self.shutdown == "kill":
            self.kill()
            return
        ref.post(self.order)
        if self.shutdown != "infinity":
            self._look_after(self.shutdown)
        elif (wait := waits_of(ref)) is not None:  # from now on its end is waited for: perhaps by itself
            refuse_cycle(wait, ref)

    def _look_after(self, seconds: float) -> None:
        assert self.order is not None
        self.timer = self.supervisor.tell_after(seconds, ShutdownOver(self, self.order))

    def kill(self) -> None:
        """End a stopping child at once, or when its handler returns; one that waits in it gets an error."""
        ref = self.ref
        assert ref is not None
        ref.post_system(Kill(keep=self.keep, breaks_off=True))
        break_off(ref)
        if self.grace <= LONGEST_GRACE:
            self._look_after(self.grace)
            self.grace *= 2

    @property
    def backs_off(self) -> bool:
        """True while it, and who was stopped with it, waits for its back-off."""
        return self.state == "waiting" and self.timer is not None

    @property
    def over(self) -> bool:
        """True if its life is over, though what it does at its end is not, and waits for no future."""
        ref, life = self.ref, self.life
        if ref is None or life is None or not life.begun or type(ref._hold) is Blocked:
            return False
        return ref._actor is None or ref._hold is LIMBO

    def give_up(self, reason: Exit = SHUTDOWN) -> None:
        """Order the ref of a waiting child to end and tell its watchers why; its end is told as any other."""
        assert self.ref is not None
        self.cancel_timer()
        self.state = "stopping"
        self.ref.post_system(GiveUp(reason))

    def cancel_timer(self) -> None:
        """Forget the shutdown time or the back-off."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    # -- news --------------------------------------------------------------------------------------

    def start_failed(self, reason: Exit) -> StartFailed:
        """Give the error of who wanted it to start."""
        error = StartFailed(f"child {self.name!r} did not start: {reason}")
        error.__cause__ = reason.error
        return error

    def exited(self, *, kept: bool) -> None:
        """Note the end of a life; an order to stop that it did not get to is void in the next one."""
        if self.state == "stopping":
            self.cancel_timer()
        if self.order is not None:
            self.order.void = True
            self.order = None
        if kept:
            self.state = "waiting"
        else:
            self.state = "stopped"
            self.ref = None
