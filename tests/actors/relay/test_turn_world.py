"""The state machine of a session's turns, against a world that keeps its own, simpler books."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from showcaller.actors.contract.worker import TurnEnded
from showcaller.actors.relay import turn_effects
from showcaller.actors.relay import turn_signals as signals
from showcaller.actors.relay.turn import step
from showcaller.actors.relay.turn_state import UNSTORABLE, TurnState
from tests.actors.relay.turn_inputs import FAULTS, SESSION, ended, late_inputs, past_inputs
from tests.actors.relay.turn_invariants import TurnInvariants
from tests.actors.relay.turn_store import RELEASING, Accept, Archive, Extend, ModelStore, Row

ORIGINS = ("owner", "owner", "agent", "wakeup", "schedule", "policy")
KINDS = ("plain", "steers", "steers", "attempt")


class World(TurnInvariants):
    """A store that commits in order or refuses, a worker, people who stop and go on, and relays that end."""

    def __init__(self) -> None:
        super().__init__()
        self.state = TurnState(SESSION)
        self.store = ModelStore()
        self.count = 0
        self.is_held = False
        self.stops = 0
        self.aside: set[str] = set()
        self.out_of_order: set[str] = set()
        self.timers = 0
        self._new_worker()
        self.sent: list[str] = []
        self.steered: list[str] = []
        self.shown: list[str] = []
        self.announced: list[str] = []

    def _new_worker(self) -> None:
        self.working: set[str] = set()
        self.kept: dict[str, TurnEnded] = {}
        self.silent: dict[str, str] = {}
        self.asked_to_stop: list[str] = []

    def feed(self, *events: signals.Input) -> None:
        for event in events:
            before = self.state
            self.state, effects = step(self.state, event)
            assert before is not self.state or not effects or isinstance(event, signals.GoOn)
            for effect in effects:
                self.carry_out(effect)

    def carry_out(self, effect: turn_effects.Effect) -> None:
        match effect:
            case turn_effects.CommitHandOver(message):
                self._begins(message.id)
                assert self.store.status(message.id) in {"queued", "cancelled"}
                self.store.pipe.append(effect)
            case turn_effects.CommitContinuation(message):
                self._begins(message.id)
                self.store.pipe.append(effect)
            case turn_effects.CommitSteer(message, turn):
                self._begins(message.id)
                assert turn in self.working or turn in self.kept
                self.store.pipe.append(effect)
            case turn_effects.SendRun(message):
                assert self.store.status(message.id) == "handed", "sent before its hand-over was stored"
                assert message.id not in self.sent, "handed over twice"
                self._has_its_text(message)
                assert not self.working, "two turns at a time"
                self.sent.append(message.id)
                self.shown.append(message.id)
                self.working.add(message.id)
            case turn_effects.SendSteer(message, turn):
                self._has_its_text(message)
                self._shown_to_agent(message.id, turn)
            case turn_effects.SendStop(message_id):
                assert message_id not in self.asked_to_stop
                self.asked_to_stop.append(message_id)
            case turn_effects.Announce(end):
                row = self.store.rows[end.turn]
                assert row.status == end.outcome, "announced as something else than is stored"
                assert row.error in {None, end.error_text}
                self.announced.append(end.turn)
            case turn_effects.LookUp():
                pass
            case turn_effects.AskAgainLater():
                self.timers += 1
            case _:
                unsent = (
                    not isinstance(effect, turn_effects.CommitTakeBack) or effect.message not in self.sent
                )
                assert unsent, "taken back though a worker may have it"
                self.store.pipe.append(effect)

    def _has_its_text(self, message: signals.Waiting) -> None:
        stored = self.store.rows[message.id].message
        assert message.text == stored.text, "its agent gets another text than is stored"

    def _begins(self, message: str) -> None:
        assert not self.is_held, "the queue moved although a stop holds it"
        assert message not in self.aside, "begun although its fan-out has cut it"
        assert not self.state.closing, "a turn began although the relay closes"

    def _shown_to_agent(self, message: str, turn: str) -> None:
        row = self.store.rows[message]
        assert (row.status, row.steered_into) == ("handed", turn), "steered before that was stored"
        assert message not in self.shown, "given to an agent twice"
        assert turn not in self.asked_to_stop, "given to a turn that is being stopped"
        self.steered.append(message)
        self.shown.append(message)
        self.silent[message] = turn

    # -- messages ----------------------------------------------------------------------------------

    @initialize()
    def begins_at_work(self) -> None:
        self.arrives("owner", "plain", promised=True)
        self.commits_all()

    @rule(origin=st.sampled_from(ORIGINS), kind=st.sampled_from(KINDS), promised=st.booleans())
    def arrives(self, origin: str, kind: str, *, promised: bool) -> None:
        name = self._new_id()
        message = signals.Waiting(name, f"text {name}", origin, is_attempt=kind == "attempt")
        hand_over = promised and self.state.is_free and not self.store.being_stored
        self.store.pipe.append(Accept(message, self.state.stops, kind == "steers", hand_over))
        if hand_over:
            self._begins(name)
            self.feed(signals.Arrives(name))

    @precondition(lambda self: self.working)
    @rule(answers=st.lists(st.booleans(), min_size=1, max_size=3))
    def agent_is_told_more(self, answers: list[bool]) -> None:
        for accepted in answers:
            self.arrives("owner", "steers", promised=False)
            self.commits_all()
            if self.silent:
                self.agent_answers(accepted)

    def _new_id(self) -> str:
        self.count += 1
        return f"msg_{self.count:012}"

    @precondition(lambda self: self.store.with_status("queued"))
    @rule(data=st.data())
    def is_cancelled(self, data: st.DataObject) -> None:
        queued = [row.message.id for row in self.store.with_status("queued")]
        self.store.cancel(data.draw(st.sampled_from(queued)))

    @precondition(lambda self: self.store.with_status("queued"))
    @rule(data=st.data())
    def is_extended(self, data: st.DataObject) -> None:
        queued = [row.message.id for row in self.store.with_status("queued")]
        self.store.pipe.append(Extend(data.draw(st.sampled_from(queued)), f"text {self._new_id()}"))

    @precondition(lambda self: self.state.turn and not self.state.continuation)
    @rule()
    def a_task_has_the_agent_go_on(self) -> None:
        name = self._new_id()
        self.out_of_order.add(name)
        self.feed(signals.Continue(signals.Waiting(name, "", "task", continues=True)))

    # -- the store ---------------------------------------------------------------------------------

    @precondition(lambda self: self.store.pipe)
    @rule()
    def commits(self) -> None:
        command = self.store.pipe[0]
        heard = self.store.commit()
        if isinstance(command, Accept) and isinstance(heard[0], signals.Stored):
            self._lifted(command.stops, lifts=command.message.origin in RELEASING)
        elif isinstance(command, turn_effects.CommitRelease):
            self._lifted(command.stops, lifts=True)
        elif isinstance(command, Archive) and heard:
            self.is_held = False  # nothing waits any more
        elif isinstance(command, turn_effects.CommitUnsteer):
            self._waits_again(command.message)
        elif isinstance(command, turn_effects.CommitEnd) and command.untold and not command.untold.is_taken:
            self._waits_again(command.untold.message)
        self.feed(*heard)

    def _waits_again(self, message: str) -> None:
        if message in self.shown:
            self.shown.remove(message)  # the agent has refused it
            self.steered.remove(message)

    def _lifted(self, stops: int, *, lifts: bool) -> None:
        if lifts and stops == self.stops:
            self.is_held = False

    @rule()
    def commits_all(self) -> None:
        while self.store.pipe:
            self.commits()

    @precondition(lambda self: self.store.pipe)
    @rule()
    def refuses(self) -> None:
        self.feed(*self.store.refuse("storage"))

    @precondition(lambda self: self.store.pipe and isinstance(self.store.pipe[0], FAULTS))
    @rule()
    def is_faulty(self) -> None:
        """The command is a mistake of ours; the second end of a turn is none."""
        command = self.store.pipe[0]
        if not isinstance(command, turn_effects.CommitEnd) or command.end.error_text != UNSTORABLE:
            self.feed(*self.store.refuse("fault"))

    @precondition(lambda self: self.timers)
    @rule()
    def time_passes(self) -> None:
        self.timers -= 1
        self.feed(signals.TryAgain())

    # -- the worker --------------------------------------------------------------------------------

    @precondition(lambda self: self.working)
    @rule(outcome=st.sampled_from(["done", "failed", "stopped"]))
    def worker_ends(self, outcome: str) -> None:
        end = ended(self.working.pop(), outcome)
        self.kept[end.turn] = end
        self.silent.clear()
        self.feed(signals.WorkerEnded(end))

    @precondition(lambda self: self.silent)
    @rule(accepted=st.booleans())
    def agent_answers(self, accepted: bool) -> None:
        message, turn = self.silent.popitem()
        self.feed(signals.Steered(message, turn, accepted))
        self.feed(signals.Steered(message, turn, not accepted))  # only the first counts

    @precondition(lambda self: self.working and self.count > 4)
    @rule()
    def time_is_up(self) -> None:
        (turn,) = self.working
        self.feed(signals.TimeUp(turn))

    @rule(data=st.data())
    def comes_late(self, data: st.DataObject) -> None:
        """What concerns a message that is not under way, or not in that phase, changes nothing."""
        message = data.draw(st.sampled_from([*self.store.rows, "msg_unknown"]))
        turn = self.state.turn
        if turn is not None and message in {turn.message.id, *(joined.id for joined in turn.steered)}:
            return
        assert all(step(self.state, event) == (self.state, ()) for event in late_inputs(message))

    @precondition(lambda self: self.state.turn is not None)
    @rule()
    def is_said_twice(self) -> None:
        """What was said about the turn under way is said again, in a phase that is past."""
        turn = self.state.turn
        assert turn is not None
        message = turn.message.id
        assert all(step(self.state, event) == (self.state, ()) for event in past_inputs(message, turn.phase))

    # -- people ------------------------------------------------------------------------------------

    @precondition(lambda self: self.count > 4)
    @rule()
    def stops_it(self) -> None:
        others = bool(self.store.being_stored)
        has_work = bool(self.state.turn or self.state.queue or self.state.continuation or others)
        self.is_held = self.is_held or has_work
        self.stops += 1
        self.feed(signals.Stop("stopped", others=others))

    @rule(data=st.data())
    def fan_out_cuts_its_own(self, data: st.DataObject) -> None:
        turn = self.state.turn
        known = [*self.state.queue, *self.store.being_stored, *([turn.message] if turn else [])]
        attempts = [message.id for message in known if message.is_attempt]
        if not attempts:
            return
        message = data.draw(st.sampled_from(attempts))
        self.aside.add(message)
        self.out_of_order.add(message)
        before = set(self.asked_to_stop)
        self.feed(signals.Stop("interrupted", message))
        assert set(self.asked_to_stop) - before <= {message}, "another message's turn was cut"

    @precondition(lambda self: self.is_held or self.aside)
    @rule()
    def owner_goes_on(self) -> None:
        self.aside.clear()
        self.feed(signals.GoOn())

    @precondition(lambda self: self.aside)
    @rule(data=st.data())
    def fan_out_goes_on(self, data: st.DataObject) -> None:
        message = data.draw(st.sampled_from(sorted(self.aside)))
        self.aside.remove(message)
        self.feed(signals.GoOn(message))

    @precondition(lambda self: self.count > 12 and not self.state.works)
    @rule()
    def is_put_away(self) -> None:
        self.store.pipe.append(Archive())

    @precondition(lambda self: self.count > 8)
    @rule()
    def relay_closes(self) -> None:
        self.feed(signals.Stop("closing", others=bool(self.store.being_stored)))

    # -- other lives -------------------------------------------------------------------------------

    @precondition(lambda self: self.count > 3)
    @rule(data=st.data())
    def relay_is_killed(self, data: st.DataObject) -> None:
        """A part of what was written is stored without anybody's hearing of it; the rest is lost."""
        for _ in range(data.draw(st.integers(0, len(self.store.pipe)))):
            self.store.commit()
        self.store.pipe.clear()
        self.store.interrupt_turns()
        self._new_worker()
        self._load()

    @precondition(lambda self: self.state.may_sleep and not self.store.pipe and not self.state.closing)
    @rule()
    def sleeps_and_wakes(self) -> None:
        before = self.state
        self._load()
        assert (before.held, before.continuation) == (self.state.held, None)
        assert not self.store.pipe, "it slept although there was something to do"

    @precondition(lambda self: not self.state.closing)
    @rule()
    def falls(self) -> None:
        """Its actor fails: what it wrote is stored, and the worker goes on, which the next life finds."""
        while self.store.pipe:
            self.store.commit()
        self._load()

    def _load(self) -> None:
        self.state = TurnState(SESSION)
        self.is_held, self.stops, self.timers = self.store.held, 0, 0
        self.asked_to_stop = []  # the next life of a session that failed asks again
        self.shown = [name for name in self.shown if self.store.status(name) != "queued"]
        self.steered = [name for name in self.steered if name in self.shown]
        queued = self.store.with_status("queued")
        self.aside = {row.message.id for row in queued if row.message.is_attempt}
        self.out_of_order |= self.aside
        if self.store.held:
            self.feed(signals.FoundHeld())
        if self.store.turn is not None:
            self._find_turn(self.store.turn)
        for row in sorted(queued, key=lambda row: row.message.id):
            self.feed(signals.FoundWaiting(row.message))

    def _find_turn(self, row: Row) -> None:
        turn = row.message.id
        self.feed(signals.FoundHanded(row.message, at_worker=turn in self.working or turn in self.kept))
        for joined in self.store.with_status("handed"):
            if joined.steered_into == turn:
                self.feed(signals.FoundSteered(joined.message, joined.taken))
        if turn in self.kept:
            self.feed(signals.WorkerEnded(self.kept[turn]))

    def teardown(self) -> None:
        """Let everything go well from here on: then every message has exactly one end."""
        self.owner_goes_on()
        while self.store.pipe or self.working or self.state.pausing:
            if self.store.pipe:
                self.commits()
            elif self.silent:
                self.agent_answers(accepted=True)
            elif self.working:
                self.worker_ends("done")
            else:
                self.time_passes()
            if self.state.held or self.state.set_aside:
                self.owner_goes_on()
        if self.state.closing:
            return
        assert self.state.queue == ()
        assert self.state.turn is None
        assert not self.store.with_status("queued") + self.store.with_status("handed")


TestWorld = World.TestCase
TestWorld.settings = settings(stateful_step_count=40)
