"""Supervisors: actors that start, restart and stop other actors, as in OTP."""

from collections import deque
from collections.abc import Iterable
from typing import Any

import pykka

from showcaller.actors.runtime.actor import Actor
from showcaller.actors.runtime.child import BackoffOver, Child, ShutdownOver
from showcaller.actors.runtime.child_spec import ChildSpec
from showcaller.actors.runtime.cycles import refuse_cycle
from showcaller.actors.runtime.debts import take_reply
from showcaller.actors.runtime.envelope import Envelope
from showcaller.actors.runtime.errors import RestartsExceeded
from showcaller.actors.runtime.exits import KILLED, SHUTDOWN, Exit
from showcaller.actors.runtime.futures import Future
from showcaller.actors.runtime.job import Agenda, Job, StartStep, StopStep, cannot_fail, nothing
from showcaller.actors.runtime.lineage import ChildExited, ChildStarted
from showcaller.actors.runtime.restart_intensity import History, RestartIntensity
from showcaller.actors.runtime.strategy import Strategy, affected
from showcaller.actors.runtime.supervisor_mail import (
    Command,
    GetChild,
    ListChildren,
    RemoveChild,
    RestartChild,
    StartChild,
    StopChild,
)
from showcaller.actors.runtime.supervisor_options import refuse_nonsense
from showcaller.actors.runtime.unfailing_log import UnfailingLogger
from showcaller.actors.runtime.waits import Undertaking

logger = UnfailingLogger("showcaller.actors")


class Supervisor(Actor):
    """Starts its children in order, restarts them as their specifications say, stops them in reverse order.

    A restarted child keeps its ref and its mailbox. When more restarts are due than ``intensity`` allows,
    the supervisor stops its children and fails itself, so that its own supervisor takes over; one that is
    restarted makes its children anew, with new refs. ``on_start`` ends when all children have started, and
    fails when one could not. When a supervisor is killed its children are killed, and who waits for an
    answer of it gets an error. A command that is told and cannot be done is logged, and fails nobody.

    Ask it with the messages of ``supervisor_mail``; a subclass that has more of its own passes others on
    to ``super().on_receive``.
    """

    reentrant = True  # it hears of its children while on_start waits for them
    _made = False

    def __init__(
        self,
        children: Iterable[ChildSpec] = (),
        *,
        strategy: Strategy = "one_for_one",
        intensity: RestartIntensity = RestartIntensity(),  # noqa: B008 - immutable
    ) -> None:
        specs = list(children)
        refuse_nonsense(type(self).__name__, specs, strategy, intensity)
        super().__init__()
        self._strategy: Strategy = strategy
        self._intensity = intensity
        self._history: History = deque()
        self._children: dict[str, Child] = {}
        self._gives_up: Exception | None = None
        self._stop_orders: list[Any] = []
        self._jobs = Agenda()
        work = Undertaking(self._jobs.waits_for_child)
        self._work: Future[None] = Future(work)  # what all replies come after
        self._up: Future[None] = Future((self._work,))
        self._stopped = self._over = False
        self._made = True
        for spec in specs:
            self._add(spec)

    def _add(self, spec: ChildSpec) -> Child:
        if spec.name in self._children:
            raise ValueError(f"{self} has a child {spec.name!r} already: choose another name, or remove it")
        shutdown = spec.shutdown
        if shutdown is None:
            shutdown = "infinity" if issubclass(spec.actor_class, Supervisor) else 5.0
        child = self._children[spec.name] = Child(spec, self.actor_ref, shutdown)
        return child

    def _forget(self, child: Child) -> None:
        child.gone = True
        if self._children.get(child.name) is child:  # else another one has its name by now
            del self._children[child.name]

    async def on_start(self) -> None:  # type: ignore[override]
        """Start the children; subclasses that override it await this one."""
        if not self._ending:  # a subclass may have waited before it came here
            steps = [StartStep(child) for child in self._children.values()]
            self._take_on(Job(steps, done=self._all_up, failed=self._could_not_start))
        await self._up

    def _all_up(self) -> None:
        self._up.try_set(None)

    def _could_not_start(self, child: Child | None, reason: Exit) -> None:
        if child is not None:
            self._give_up(child.start_failed(reason))

    # -- mail --------------------------------------------------------------------------------------

    def on_receive(self, message: Any) -> Any:
        """Handle news of children and what is asked of a supervisor."""
        match message:
            case ChildStarted():
                self._child_started(message.child)
            case ChildExited():
                self._child_exited(message)
            case ShutdownOver():
                if message.child.order is message.order:
                    self._shutdown_over(message)
            case BackoffOver():
                self._backoff_over(message.child)
            case GetChild():
                self._get_child(message.name)
            case ListChildren():
                return tuple(child.info() for child in self._children.values())
            case StartChild() | StopChild() | RestartChild() | RemoveChild():
                self._command(message)
            case _:
                return super().on_receive(message)
        return None

    def _get_child(self, name: str) -> None:
        reply = take_reply()

        def answer(up: Future[None]) -> None:
            child = self._children.get(name)
            if self._over:
                self._settle(reply, pykka.ActorDeadError(f"{self} ended before it answered"))
            elif up.error is not None:
                self._settle(reply, up.error)
            else:
                self._settle(reply, None if child is None else child.ref)

        self._owe(reply, self._up)
        self._up.add_done_callback(answer)

    def _find(self, ref: Any) -> Child | None:
        link = ref.extras().link
        child = None if link is None else self._children.get(link.name)
        return child if child is not None and child.ref is ref else None

    def _child_started(self, ref: Any) -> None:
        child = self._find(ref)
        if child is not None and child.state == "starting":
            child.state = "running"
            child.since = self._now()
            self._jobs.go_on()

    def _child_exited(self, news: ChildExited) -> None:
        child = self._find(news.child)
        if child is None:
            return
        before = child.state
        child.exited(kept=news.kept)
        if not news.kept and child.spec.restart == "temporary" and before != "starting":
            self._forget(child)
        if before == "starting":
            self._jobs.start_failed(child, news.reason)
        elif before == "running" and news.kept and not self._jobs.is_to_stop(child):
            self._restart(child, news.reason)  # else another job says what follows its end
        self._jobs.go_on()

    def _shutdown_over(self, news: ShutdownOver) -> None:
        child = news.child
        if not child.over:
            child.kill()
            return
        if not news.all_heard:  # the news of its end may stand behind this
            self.actor_ref.post(ShutdownOver(child, news.order, all_heard=True))
            return
        ref = child.ref
        assert ref is not None
        logger.warning("%s has ended but what it does at its end has not: %s goes on without it", ref, self)
        ref.kill_for_good()  # it need not be kept: a restarted child gets a new ref
        self._child_exited(ChildExited(ref, KILLED, kept=False))

    def _now(self) -> float:
        return self.actor_ref.dispatcher.clock.monotonic()

    # -- jobs --------------------------------------------------------------------------------------

    def _take_on(self, job: Job) -> None:
        self._jobs.add(job)
        self._jobs.go_on()

    def _stop_all(self) -> list[StopStep]:
        return [StopStep(child, keep=False) for child in reversed(self._children.values())]

    def _owe(self, reply: Future[Any] | None, after: Future[None]) -> None:
        """Let it be seen what a reply comes after: refused if that waits for who waits for the reply."""
        if reply is not None and not reply.done:
            reply.answerer = (after,)
            refuse_cycle(reply, self.actor_ref)

    # -- restarting --------------------------------------------------------------------------------

    def _restart(self, child: Child, reason: Exit) -> None:
        if self._ending:
            return
        now = self._now()
        if not self._intensity.note(self._history, now):
            error = RestartsExceeded(
                f"child {child.name!r} ended ({reason}) and would be restarted more than "
                f"{self._intensity.restarts} times in {self._intensity.seconds:g} s: {self} gives up"
            )
            error.__cause__ = reason.error
            if child.state == "waiting":
                child.give_up(reason)
            self._give_up(error)
            return
        group = [self._children[name] for name in affected(self._strategy, self._children, child.name)]
        stops = [StopStep(other, keep=True) for other in reversed(group) if other is not child]
        delay = child.delay(now)
        if delay > 0:
            child.group = [other.name for other in group]
            child.timer = self.actor_ref.tell_after(delay, BackoffOver(child))
            self._take_on(Job(stops, done=lambda: self._group_stopped(child), failed=self._restart_failed))
        else:
            starts = [StartStep(other) for other in group]
            self._take_on(Job([*stops, *starts], done=nothing, failed=self._restart_failed, again=True))

    def _restart_failed(self, child: Child | None, reason: Exit) -> None:
        if child is not None and child.state == "waiting":
            self._restart(child, reason)

    def _backoff_over(self, child: Child) -> None:
        if not child.backs_off or self._ending:
            return
        child.timer = None
        self._start_group(child)

    def _group_stopped(self, child: Child) -> None:
        if not child.backs_off:  # somebody has had it started before the others were stopped
            self._start_group(child)

    def _start_group(self, child: Child) -> None:
        """Start who waits for a back-off that is over, or that was cut short; once."""
        if any(other.backs_off and child.name in other.group for other in self._children.values()):
            return  # that one failed later, and starts this one after it
        group = [other for other in self._group(child) if other is not child or child.state != "stopped"]
        child.group = []
        self._take_on(Job(map(StartStep, group), done=nothing, failed=self._restart_failed, again=True))

    def _group(self, child: Child) -> list[Child]:
        """Give who waits for the back-off of this child, itself among them."""
        return [self._children[name] for name in child.group if name in self._children]

    def _give_up(self, error: Exception) -> None:
        """Stop the children, then fail."""
        if self._ending:
            return
        self._gives_up = error
        self._jobs.drop(SHUTDOWN)
        self._take_on(Job(self._stop_all(), done=self._fail, failed=cannot_fail))

    def _fail(self) -> None:
        assert self._gives_up is not None
        if not self._up.try_set_exception(self._gives_up):
            raise self._gives_up

    # -- stopping ----------------------------------------------------------------------------------

    @property
    def _ending(self) -> bool:
        return self._gives_up is not None or bool(self._stop_orders)

    def _puts_off_stop(self, order: Any) -> bool:
        """Stop the children first, then take the order up again."""
        if self._stopped:
            return False
        self._stop_orders.append(order)
        if len(self._stop_orders) == 1:
            self._jobs.drop(SHUTDOWN)
            self._take_on(Job(self._stop_all(), done=self._children_stopped, failed=cannot_fail))
        if isinstance(order, Envelope):
            self._owe(order.reply, self._work)
        return True

    def _children_stopped(self) -> None:
        self._stopped = True
        for order in self._stop_orders:
            self.actor_ref.post(order)

    def _life_over(self, reason: Exit) -> None:
        if not self._made:
            return
        self._over = True
        for child in self._children.values():
            child.cancel_timer()
        self._jobs.drop(reason)
        self._up.try_set(None)
        orders, self._stop_orders = self._stop_orders, []
        for order in () if self._stopped else orders:  # once posted they are answered as mail
            if isinstance(order, Envelope):
                self._settle(order.reply, order.stopped)

    def _settle(self, reply: Future[Any] | None, outcome: Any) -> None:
        """Answer with a value or an error; somebody who no longer waits costs nothing."""
        if reply is None:
            return
        error = isinstance(outcome, Exception)
        if not (reply.try_set_exception(outcome) if error else reply.try_set(outcome)):
            self.actor_ref.dispatcher.late_reply()

    # -- what is asked -----------------------------------------------------------------------------

    def _command(self, command: Command) -> None:
        reply = take_reply()
        try:
            child = self._meant(command)
        except (pykka.ActorDeadError, LookupError, ValueError) as refusal:
            if reply is None:
                logger.warning("%s was told %r in vain: %s", self, command, refusal)
            self._settle(reply, refusal)
            return
        match command:
            case StartChild() | RestartChild():
                self._start_child(child, reply, forget=isinstance(command, StartChild))
            case _:
                self._stop_child(child, reply, forget=isinstance(command, RemoveChild))

    def _meant(self, command: Command) -> Child:
        """Give the child that the command is about, or raise why it cannot be done."""
        if self._ending:
            raise pykka.ActorDeadError(f"{self} is stopping its children")
        if isinstance(command, StartChild):
            return self._add(command.spec)
        child = self._known(command.name)
        if isinstance(command, RestartChild) and child.state != "stopped":
            raise ValueError(f"child {child.name!r} is {child.state}, only a stopped one can be restarted")
        return child

    def _known(self, name: str) -> Child:
        child = self._children.get(name)
        if child is None:
            raise LookupError(f"{self} has no child {name!r}")
        return child

    def _start_child(self, child: Child, reply: Future[Any] | None, *, forget: bool) -> None:
        def done() -> None:
            removed = LookupError(f"{self} has no child {child.name!r} any more: it was removed meanwhile")
            self._settle(reply, removed if child.gone else child.ref)

        def failed(unstarted: Child | None, reason: Exit) -> None:
            def answer(*_: object) -> None:
                self._settle(reply, child.start_failed(reason))

            def ended() -> None:
                if forget:
                    self._forget(child)
                answer()

            if unstarted is None:
                answer()
            else:  # should that be dropped, the child is stopped with the others
                self._jobs.add_first(Job([StopStep(child, keep=False)], done=ended, failed=answer))

        self._take_on(Job([StartStep(child)], done=done, failed=failed))
        self._owe(reply, self._work)

    def _stop_child(self, child: Child, reply: Future[Any] | None, *, forget: bool) -> None:
        others = self._group(child) if child.backs_off else []  # who waits for it goes on without it
        for waiting in self._children.values():
            waiting.group = [name for name in waiting.group if name != child.name]

        def done() -> None:
            if forget:
                self._forget(child)
            self._settle(reply, None)

        def failed(unstarted: Child | None, reason: Exit) -> None:
            if unstarted is None:
                error = pykka.ActorDeadError(f"{self} ended before child {child.name!r} was stopped")
                self._settle(reply, error)
            else:  # one of the others, so this one was stopped
                done()
                self._restart_failed(unstarted, reason)

        steps: list[StopStep | StartStep] = [StopStep(child, keep=False)]
        steps += [StartStep(other) for other in others if other is not child]
        self._take_on(Job(steps, done=done, failed=failed, again=True))
        self._owe(reply, self._work)
