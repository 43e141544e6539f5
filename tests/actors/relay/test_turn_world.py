"""The state machine of a session's turns, against a world that keeps its own, simpler books."""

from collections import deque
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.turn import step
from showcaller.actors.relay.turn_state import UNHANDED, TurnState

SESSION = "ses_000000000001"
LATE = ("worker", "end", "hand-over", "taken back", "cancelled", "refused")
ORIGINS = ("owner", "agent", "wakeup", "schedule", "policy")


def ended(message: str, outcome: Any = "done", **more: Any) -> TurnEnded:
    return TurnEnded(session=SESSION, turn=message, outcome=outcome, **more)


class World(RuleBasedStateMachine):
    """A store that commits in order or refuses, a worker, people who stop and go on, and late mail."""

    def __init__(self) -> None:
        super().__init__()
        self.state = TurnState(SESSION)
        self.arrived: deque[signals.Stored] = deque()
        self.accepted: list[str] = []
        self.stored: dict[str, str] = {}
        self.writes: deque[signals.Effect] = deque()
        self.working: set[str] = set()
        self.sent: list[str] = []
        self.asked_to_stop: list[str] = []
        self.announced: list[str] = []
        self.looked_up: list[str] = []
        self.timers = 0
        self.is_held = False
        self.aside: set[str] = set()
        self.passed: set[str] = set()
        self.stops = 0
        self.count = 0

    def feed(self, event: signals.Input) -> None:
        before = self.state
        self.state, effects = step(self.state, event)
        assert before is not self.state or not effects
        for effect in effects:
            self.carry_out(effect)

    def carry_out(self, effect: signals.Effect) -> None:
        match effect:
            case signals.CommitHandOver(message):
                assert not self.is_held, "the queue moved although a stop holds it"
                assert message.id not in self.aside, "begun although its fan-out has cut it"
                assert not self.state.closing, "a turn began although the relay closes"
                assert self.stored[message.id] in {"queued", "cancelled"}
                self.writes.append(effect)
            case signals.CommitTakeBack() | signals.CommitCancel() | signals.CommitEnd():
                self.writes.append(effect)
            case signals.SendRun(message):
                assert self.stored[message.id] == "handed", "sent before its hand-over was stored"
                assert message.id not in self.sent, "handed over twice"
                assert not self.working, "two turns at a time"
                self.sent.append(message.id)
                self.working.add(message.id)
            case signals.SendStop(message_id):
                assert message_id not in self.asked_to_stop
                self.asked_to_stop.append(message_id)
            case signals.Announce(end):
                stored = "cancelled" if end.error_text == UNHANDED else end.outcome
                assert self.stored[end.turn] == stored, "announced before it was stored"
                self.announced.append(end.turn)
            case signals.LookUp(message_id):
                self.looked_up.append(message_id)
            case signals.AskAgainLater():
                self.timers += 1

    # -- messages ----------------------------------------------------------------------------------

    @rule(origin=st.sampled_from(ORIGINS))
    def arrives(self, origin: str) -> None:
        self.count += 1
        message = signals.Waiting(f"msg_{self.count:012}", f"text {self.count}", origin)
        self.arrived.append(signals.Stored(message, self.state.stops))

    @precondition(lambda self: self.arrived)
    @rule()
    def is_stored(self) -> None:
        event = self.arrived.popleft()
        self.accepted.append(event.message.id)
        self.stored[event.message.id] = "queued"
        if event.message.origin in {"owner", "agent"} and event.stops == self.stops:
            self.is_held = False
        self.feed(event)

    @precondition(lambda self: "queued" in self.stored.values())
    @rule(data=st.data())
    def is_cancelled(self, data: st.DataObject) -> None:
        queued = [message for message, status in self.stored.items() if status == "queued"]
        self.stored[data.draw(st.sampled_from(queued))] = "cancelled"

    # -- the store ---------------------------------------------------------------------------------

    @precondition(lambda self: self.writes)
    @rule()
    def commits(self) -> None:
        write = self.writes.popleft()
        match write:
            case signals.CommitHandOver(message):
                if self.stored[message.id] == "queued":
                    self.stored[message.id] = "handed"
                    self.feed(signals.HandOverStored(message.id))
                else:
                    self.feed(signals.HandOverRefused(message.id))
            case signals.CommitTakeBack(message_id):
                assert self.stored[message_id] == "handed"
                assert message_id not in self.sent, "taken back from a worker"
                self.stored[message_id] = "queued"
                self.feed(signals.TakenBack(message_id))
            case signals.CommitCancel(message_id):
                if self.stored[message_id] == "queued":
                    self.stored[message_id] = "cancelled"
                    self.feed(signals.Cancelled(message_id))
                else:
                    self.feed(signals.CancelRefused(message_id))
            case signals.CommitEnd(end):
                assert self.stored[end.turn] == "handed", "a second end"
                self.stored[end.turn] = end.outcome
                self.feed(signals.EndStored(end.turn))
            case _:
                raise AssertionError(f"{write} is no write")

    @precondition(lambda self: self.writes)
    @rule()
    def refuses(self) -> None:
        write = self.writes.popleft()
        match write:
            case signals.CommitHandOver(message):
                self.feed(signals.HandOverFailed(message.id))
            case signals.CommitTakeBack(message_id) | signals.CommitCancel(message_id):
                self.feed(signals.StoreFailed(message_id))
            case signals.CommitEnd(end):
                self.feed(signals.StoreFailed(end.turn))
            case _:
                raise AssertionError(f"{write} is no write")

    @precondition(lambda self: self.writes)
    @rule()
    def is_faulty(self) -> None:
        """The command of a hand-over or a taking back is a mistake of ours."""
        write = self.writes[0]
        if isinstance(write, signals.CommitHandOver):
            self.writes.popleft()
            self.feed(signals.HandOverRefused(write.message.id, faulty=True))
        elif isinstance(write, signals.CommitTakeBack):
            self.writes.popleft()
            self.feed(signals.TakeBackRefused(write.message, faulty=True))

    @precondition(lambda self: self.timers)
    @rule()
    def time_passes(self) -> None:
        self.timers -= 1
        self.feed(signals.TryAgain())

    # -- the worker --------------------------------------------------------------------------------

    @precondition(lambda self: self.working)
    @rule(outcome=st.sampled_from(["done", "failed", "stopped"]))
    def worker_ends(self, outcome: str) -> None:
        self.feed(signals.WorkerEnded(ended(self.working.pop(), outcome)))

    @rule(data=st.data(), event=st.sampled_from(LATE))
    def comes_late(self, data: st.DataObject, event: str) -> None:
        """What concerns a turn that is not under way, or not in that phase, changes nothing."""
        known = [*self.accepted, "msg_unknown"]
        message = data.draw(st.sampled_from(known))
        turn = self.state.turn
        if turn is not None and turn.message.id == message:
            return
        late: dict[str, signals.Input] = {
            "worker": signals.WorkerEnded(ended(message)),
            "end": signals.EndStored(message),
            "hand-over": signals.HandOverStored(message),
            "taken back": signals.TakenBack(message),
            "cancelled": signals.Cancelled(message),
            "refused": signals.HandOverRefused(message),
        }
        before = self.state
        assert step(before, late[event]) == (before, ())

    @precondition(lambda self: self.state.turn is not None)
    @rule()
    def is_said_twice(self) -> None:
        """What was said about the turn under way is said again, in a phase that is past."""
        turn = self.state.turn
        assert turn is not None
        message = turn.message.id
        early: dict[str, list[signals.Input]] = {
            "handing": [signals.WorkerEnded(ended(message)), signals.EndStored(message)],
            "running": [signals.HandOverStored(message), signals.HandOverFailed(message)],
            "stopping": [signals.HandOverStored(message), signals.HandOverRefused(message)],
            "cancelling": [signals.HandOverStored(message), signals.HandOverRefused(message, faulty=True)],
            "taking_back": [signals.HandOverStored(message), signals.WorkerEnded(ended(message))],
            "ending": [signals.WorkerEnded(ended(message)), signals.HandOverStored(message)],
        }
        for event in early[turn.phase]:
            assert step(self.state, event) == (self.state, ())

    # -- people ------------------------------------------------------------------------------------

    @rule()
    def stops_it(self) -> None:
        has_work = bool(self.state.turn or self.state.queue or self.arrived)
        self.is_held = self.is_held or has_work
        self.stops += 1
        self.feed(signals.Stop("stopped", accepting=bool(self.arrived)))

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def fan_out_cuts_its_own(self, data: st.DataObject) -> None:
        under_way = [
            *(m.id for m in self.state.queue),
            *(event.message.id for event in self.arrived),
            *([self.state.turn.message.id] if self.state.turn else []),
        ]
        if not under_way:
            return
        message = data.draw(st.sampled_from(under_way))
        self.aside.add(message)
        self.passed.add(message)
        before = list(self.asked_to_stop)
        self.feed(signals.Stop("interrupted", message))
        assert set(self.asked_to_stop) - set(before) <= {message}, "another message's turn was cut"

    @rule()
    def goes_on(self) -> None:
        self.is_held = False
        self.aside.clear()
        self.feed(signals.GoOn())

    @precondition(lambda self: self.count > 3)
    @rule()
    def relay_closes(self) -> None:
        self.stops += 1
        self.feed(signals.Stop("closing", accepting=bool(self.arrived)))

    # -- what always holds -------------------------------------------------------------------------

    @invariant()
    def at_most_one_turn_is_with_a_worker(self) -> None:
        assert len(self.working) <= 1
        if not self.state.closing:  # which may leave what the store refuses to the next start
            assert list(self.stored.values()).count("handed") <= 1

    @invariant()
    def the_order_of_acceptance_is_kept(self) -> None:
        """Only what a fan-out has cut lets others pass."""
        queue = [waiting.id for waiting in self.state.queue]
        assert queue == sorted(queue)
        sent = [message for message in self.sent if message not in self.passed]
        assert sent == sorted(sent)
        waiting = [message for message in queue if message not in self.passed]
        if sent and waiting:
            assert sent[-1] < waiting[0]

    @invariant()
    def each_turn_has_one_end(self) -> None:
        assert len(self.announced) == len(set(self.announced))

    @invariant()
    def one_write_is_under_way_at_most(self) -> None:
        assert len(self.writes) <= 1

    @invariant()
    def nobody_waits_for_a_store_that_is_not_asked(self) -> None:
        if self.state.pausing:
            assert self.timers
            assert not self.writes

    @invariant()
    def the_books_agree(self) -> None:
        assert self.state.held == self.is_held
        for waiting in self.state.queue:
            assert self.stored[waiting.id] in {"queued", "cancelled"}

    def teardown(self) -> None:
        """Let everything go well from here on: then every message has exactly one end."""
        self.goes_on()
        while self.arrived or self.writes or self.working or self.state.pausing:
            if self.arrived:
                self.is_stored()
            elif self.writes:
                self.commits()
            elif self.working:
                self.worker_ends("done")
            else:
                self.time_passes()
            self.goes_on()
        if self.state.closing:
            return
        assert self.state.queue == ()
        assert self.state.turn is None
        assert "queued" not in self.stored.values()
        assert "handed" not in self.stored.values()
        told = {message for message, status in self.stored.items() if status != "cancelled"}
        assert told <= set(self.announced)


TestWorld = World.TestCase
TestWorld.settings = settings(stateful_step_count=30)
