"""A world drawn from one seed: a relay, its callers, its worker, its store, and all that goes wrong.

The relay is the real one, on a dispatcher that runs one step at a time over a real store. Everything else is
drawn: who comes next, how time passes, what callers do, what is late, doubled, lost or refused, and who dies.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from showcaller.actors.contract.ids import ALPHABET, Prefix
from showcaller.actors.relay.calls import OWNER, Caller
from showcaller.actors.relay.pauses import FIRST_PAUSE
from showcaller.actors.runtime.testkit import ManualClock
from showcaller.store.batch import Answer, Batch
from showcaller.store.transaction import run_batch
from tests.simulation.agenda import Agenda, Kind
from tests.simulation.books import Books, Broken
from tests.simulation.callers import Callers, Calling
from tests.simulation.cards import People
from tests.simulation.chances import draw_chances
from tests.simulation.clients import WORLDS as CLIENTS_IN
from tests.simulation.clients import Clients
from tests.simulation.fanouts import Fanouts
from tests.simulation.life import Life
from tests.simulation.link import Deaf
from tests.simulation.orders import Orders
from tests.simulation.port import Workforce
from tests.simulation.promises import broken_promises, excuse_tasks, excuse_what_is_cut, excuse_what_joins
from tests.simulation.script import Script
from tests.simulation.stored import Stored
from tests.simulation.trace import Trace
from tests.simulation.updates import Updates
from tests.simulation.views import compare_views

MOST_STEPS = 60_000
LONGEST_CLOSE = 9000.0  # seconds: a worker's grace, and the last tries at a store that refuses


class World:
    """One seed's world; ``run`` lives through it and raises Broken for the first promise that was broken."""

    def __init__(self, seed: int, home: Path) -> None:
        self.seed = seed
        self.home = home
        self.random = Random(seed)
        self.clock = ManualClock()
        self.trace = Trace(self.clock, str(home))
        self.chances = draw_chances(self.random)
        self.agenda = Agenda(self.random)
        self.books = Books(is_slow=self.chances.latest > FIRST_PAUSE)
        self.books.cards.draw(seed)
        self.callers = Callers(self.books)
        self.script = Script(self)
        self.fanouts = Fanouts(self)
        self.orders = Orders(self)
        self.people = People(self)
        self.updates = Updates(self)
        self.steps = 0
        self.full_until = 0.0
        self.calm = False
        self._ids = 0
        self.lives = 0
        self._workers = 0
        self._calls = 0
        self._late: list[Callable[[], None]] = []
        self.answered: list[tuple[Calling, dict[str, Any]]] = []
        self.mistakes: list[str] = []
        self.workforce = Workforce(self, self.random, self.chances, self.books, self._new_worker)
        self.life = self._begin_life()
        self.clients = Clients(self)
        if Random(f"clients {seed}").random() < CLIENTS_IN:
            self.clients.settle_in()

    # -- surroundings of the parts -----------------------------------------------------------------

    def happens(self, chance: float) -> bool:
        """Draw whether something happens; nothing goes wrong while the world is calm."""
        return chance > 0 and not self.calm and self.random.random() < chance

    def later(self, action: Callable[[], None], *, owner: str, channel: object = None) -> None:
        """Have something arrive after a time that is drawn."""
        after = self.random.random() * self.chances.latest if self.happens(self.chances.late) else 0.0
        self.agenda.add(self.clock.monotonic() + after, action, owner=owner, channel=channel)

    def work(self, seconds: float, action: Callable[[], None], *, owner: str) -> None:
        """Have an agent do something after so much of its own time."""
        self.agenda.add(self.clock.monotonic() + seconds, action, owner=owner, kind="work")

    def say(self, who: str, what: str) -> None:
        """Add to the trace."""
        self.trace.say(who, what)

    def committed(self, batch: Batch, answers: Sequence[Answer]) -> None:
        """Note which messages wait again that had left the queue to join a turn."""
        for command, answer in zip(batch.commands, answers, strict=True):
            if command.name == "unsteer_message" and not answer.error:
                self.books.back.add(command.arguments["message"])

    @property
    def storage_fails(self) -> bool:
        """Whether the disk is full at present."""
        return not self.calm and self.clock.monotonic() < self.full_until

    def new_id(self, prefix: Prefix) -> str:
        """Make an id that repeats from run to run; ids do not rise with time, as real ones do not."""
        self._ids += 1
        mixed = "".join(self.random.choice(ALPHABET) for _ in range(8))
        return f"{prefix}{mixed}{self._ids:04}"

    def _new_worker(self) -> str:
        self._workers += 1
        return f"work{self._workers}"

    # -- lives of the relay ------------------------------------------------------------------------

    def _begin_life(self) -> Life:
        self.lives += 1
        life = Life(
            self.lives,
            self.home,
            self,
            self.random,
            self.clock,
            self.chances,
            self.workforce,
            self.new_id,
            asks_owner=self.books.cards.asks_owner,
        )
        self.say(life.name, "starts")
        for orphan in self._late:
            orphan()
        self._late.clear()
        return life

    def kill(self) -> None:
        """The relay dies where it stands, and another starts over what it stored."""
        life = self.life
        self.say(life.name, "dies")
        database, batches = life.writer.orphan()
        fate = self.random.choice(("lost", "committed", "late")) if batches else "lost"
        if batches:
            self.say("writer", f"batch {batches[0].number} of the dead relay is {fate}")
        if fate == "committed" and not self.storage_fails:
            self.committed(batches[0], run_batch(database, batches[0]))
        if fate == "late":
            self._late.append(lambda: self._too_late(run_batch(database, batches[0])))
            self._late.append(database.close)
        self._end_life(keep_writer=fate == "late")

    def _too_late(self, answers: list[Answer]) -> None:
        if any(answer.error != "storage" for answer in answers):
            raise Broken(f"a writer whose relay is dead still stores: {answers}")

    def _end_life(self, *, keep_writer: bool = False) -> None:
        life = self.life
        self._hear()
        self.agenda.forget(life.name)
        self.agenda.forget(life.port.link_owner)
        self.orders.lose()
        self.people.lose()
        self.callers.lose()
        self.fanouts.lose()
        self.books.stops_due.clear()
        life.reader.close()
        if not keep_writer:
            life.writer.close()
        if self.chances.outlives:
            excuse_what_joins(Stored(life.path), self.books)
            self._worker_goes_on()
        else:
            self.books.excused.update(life.port.at_worker)
            excuse_what_is_cut(life.path, self.books)
            self.agenda.forget(self.workforce.worker.name)
            self.workforce.start()
        self.life = self._begin_life()

    def _worker_goes_on(self) -> None:
        """While no relay runs, its worker works on, or dies."""
        worker = self.workforce.worker
        worker.link = Deaf(self.workforce.unheard)
        for _ in range(self.random.choice((0, 0, 3, 30))):
            due = self.agenda.next_due("work")
            if due is None:
                break
            self.clock.move_to(max(self.clock.monotonic(), due))
            self.agenda.run_due(self.clock.monotonic(), "work")
        if self.happens(self.chances.worker_dies):
            self.say(worker.name, "dies")
            self.agenda.forget(worker.name)
            excuse_tasks(Stored(self.life.path), self.books)
            self.workforce.bury()

    def worker_dies(self) -> None:
        """The worker dies, and the relay lives on."""
        self.say(self.life.port.worker.name, "dies")
        if self.chances.outlives:
            stored = Stored(self.life.path)
            excuse_tasks(stored, self.books)
            handed = {row["id"] for row in stored.prompts if row["status"] == "handed"}
            # A relay that has not asked for them since its start does not look into what is left of them.
            self.books.excused.update(handed - set(self.life.port.at_worker))
        else:
            excuse_what_is_cut(self.life.path, self.books)
        for owner in self.life.port.worker_dies():
            self.agenda.forget(owner)

    def close_relay(self) -> None:
        """The relay is stopped in an orderly way, and another started."""
        life = self.life
        leaves = self.chances.outlives and self.random.random() < 0.5
        self.say(life.name, "closes" + (" and leaves its worker" if leaves else ""))
        life.begin_close(leaves=leaves)
        until = self.clock.monotonic() + LONGEST_CLOSE
        assert life.closed is not None
        while not life.closed.done:
            if self.happens(self.chances.relay_dies / 20):
                self.kill()
                return
            if not leaves:
                self.books.excused.update(life.port.at_worker)
            if not self.step() or self.clock.monotonic() > until:
                raise Broken(f"{life.name} does not close")
        self.settle(work=False)
        hanging = [calling.number for calling in self.callers.under_way]
        if hanging:
            raise Broken(f"{life.name} has closed and the calls {hanging} have no answer")
        self.say(life.name, "is closed")
        self._end_life()

    # -- time --------------------------------------------------------------------------------------

    def step(self, *, work: bool = True) -> bool:
        """Let one thing happen; False when nothing is left that could."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Broken(f"nothing is settled after {MOST_STEPS} steps")
        self._hear()
        life = self.life
        if life.is_ready and (self.calm or self.random.random() < self.chances.relay_first):
            return life.dispatcher.step()
        if self.agenda.run_due(self.clock.monotonic(), None if work else "transit"):
            return True
        if life.dispatcher.step() or life.dispatcher.timers.fire_due():
            return True
        return self._let_time_pass(None if work else "transit")

    def _let_time_pass(self, kind: Kind | None) -> bool:
        moments = [self.agenda.next_due(kind), self.life.next_timer()]
        known = [moment for moment in moments if moment is not None]
        if not known or (kind is not None and moments[0] is None):
            return False
        self._pass_to(min(known))
        return True

    def _pass_to(self, moment: float | None) -> None:
        assert moment is not None, "something waits for a timer that does not run"
        self.clock.move_to(max(self.clock.monotonic(), moment))
        self.life.dispatcher.timers.fire_due()

    def settle(self, *, work: bool = True) -> None:
        """Let everything happen that is on its way; without ``work`` no agent goes on meanwhile."""
        before, self.calm = self.calm, True
        while self.step(work=work):
            pass
        self._hear()
        if self.books.stops_due:
            raise Broken(f"{self.books.stops_due} were sent although a stop holds their sessions, and go on")
        self.calm = before

    def _hear(self) -> None:
        """Take note of what callers were answered, and of what the relay's log says about itself."""
        answered, self.answered = self.answered, []
        for calling, result in answered:
            self.say(f"call{calling.number}", f"→ {short(result)}")
            self.callers.end(calling, result)
            if calling.action == "answer_question" and result["ok"]:
                self.people.told(result)
            self.clients.hear(calling, result)
        if self.books.broken:
            raise Broken(self.books.broken[0])
        if self.mistakes:
            raise Broken(f"the relay's log tells of a mistake: {self.mistakes[0]}")

    def call(
        self, action: str, client_id: str | None = None, agent: str | None = None, **arguments: Any
    ) -> Calling:
        """Begin a call of the owner, or of a session's agent."""
        now = self.clock.monotonic()
        return self.begin(Calling(self.next_call(), action, arguments, client_id, now, agent))

    def next_call(self) -> int:
        """Count one more call."""
        self._calls += 1
        return self._calls

    def begin(self, calling: Calling) -> Calling:
        """Begin a call."""
        named = f" id={calling.client_id}" if calling.client_id else ""
        named += f" by {calling.agent}" if calling.agent else ""
        self.say(f"call{calling.number}", f"{calling.action} {calling.arguments}{named}")
        request = {"action": calling.action, "relay": "this", **calling.arguments}
        self.callers.begin(calling)
        kind: Literal["agent", "external"] = "external" if self.clients.calls(calling.agent) else "agent"
        caller = OWNER if calling.agent is None else Caller(kind, calling.agent)
        calling.asks_owner = calling.agent is not None and self.books.cards.asks_owner
        answer = self.life.door._begin(request, caller, calling.client_id)
        answer.add_done_callback(lambda done: self.answered.append((calling, done.get())))
        return calling

    # -- from the beginning to the end -------------------------------------------------------------

    def run(self) -> None:
        """Live through the script, and then see everything to its end."""
        while self.script.moves_left:
            if self.random.random() < self.chances.eager or not self.step():
                self._hear()
                self.script.move()
                self._check_hanging()
        self.finish()

    def _check_hanging(self) -> None:
        now = self.clock.monotonic()
        hanging = [call for call in self.callers.under_way if now > call.deadline]
        if hanging and not self.life.has_failed:
            call = hanging[0]
            raise Broken(f"call {call.number} ({call.action}) began at {call.began} and has no answer")
        self.orders.check_hanging()
        unanswered = self.people.hanging()
        if unanswered:
            raise Broken(f"the answers to {unanswered} have none")

    def quiet(self) -> None:
        """Let everything settle but the agents' work, and compare what everybody sees."""
        self.say("world", "is quiet")
        self.settle(work=False)
        while any(_tries_again(actor) for actor in self.life.session_actors().values()):
            self._pass_to(self.life.dispatcher.timers.next_due())
            self.settle(work=False)
        self._check()
        if not self.life.has_failed:
            compare_views(self)

    def finish(self) -> None:
        """Nothing goes wrong any more: everything that was promised must come true."""
        self.say("world", "all troubles end")
        self.calm = True
        self.life.reader.fails = 0.0
        self.settle(work=False)
        if self.life.has_failed:
            self._end_life()
        self.script.finish()
        self.settle()
        self.clients.drain()
        self._check_no_call_waits()
        compare_views(self)
        self._check(over=True)
        self.close_relay()
        self._check(over=True)

    def _check_no_call_waits(self) -> None:
        if self.callers.under_way:
            call = self.callers.under_way[0]
            raise Broken(f"call {call.number} ({call.action} {call.arguments}) never has an answer")
        if self.people.under_way:
            raise Broken(f"the answers to {self.people.under_way} never have one")
        if self.orders.under_way:
            raise Broken(f"{self.orders.under_way[0]} never has an answer")

    def _check(self, *, over: bool = False) -> None:
        found = broken_promises(self.life.path, self.books, over=over, external=self.clients.session)
        if found:
            raise Broken("; ".join(found[:5]))
        self.fanouts.check(Stored(self.life.path))
        self.clients.check(Stored(self.life.path))

    def drop(self) -> None:
        """Let go of the files."""
        self.life.drop()


def _tries_again(session: Any) -> bool:
    """Whether a session will ask the store again for something that it has refused."""
    tasks = session._background._tasks._by_name.values()
    unstored = any(task.end is not None or not task.is_stored for task in tasks)
    cards = session._cards._state.cards
    unshown = any(card.phase == "opening" or card.wish is not None for card in cards)
    return session._turns.state.pausing or session._looks_again or unstored or unshown


def short(result: dict[str, Any]) -> str:
    """A call's result in one line."""
    names = ("code", "error", "status", "stopReason", "session", "message_id", "stopRequested")
    told = {name: result[name] for name in names if name in result}
    if "reply" in result:
        told["reply"] = result["reply"]["text"][:60]
    if "sessions" in result:
        told["sessions"] = len(result["sessions"])
    return str(told)
