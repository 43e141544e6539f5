"""What callers do and what befalls a world, drawn move by move."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.simulation.worker import STEERED

if TYPE_CHECKING:
    from tests.simulation.world import World

WAITS = (0, 0, 1, 30, 120, 600)
ASKS_OWNER = 0.5  # of what is written, where the owner is asked about agents, is an agent's
MANY = 130  # messages at once: more than may wait


class Script:
    """Draws and makes the moves of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._random = world.random
        self._texts = 0
        self.moves_left = world.chances.moves

    def move(self) -> None:
        """Make the next move: a blow of fate, or something that a caller does."""
        self.moves_left -= 1
        world, chances = self._world, self._world.chances
        if world.happens(chances.relay_dies):
            world.kill()
        elif world.happens(chances.relay_closes):
            world.close_relay()
        elif world.happens(chances.worker_dies):
            world.worker_dies()
        elif world.happens(chances.disk_fills):
            seconds = self._random.choice((0.5, 5.0, 100.0)) * self._random.random()
            world.say("disk", f"is full for {seconds:.1f} s")
            world.full_until = world.clock.monotonic() + seconds
        elif world.happens(chances.fanouts):
            world.fanouts.act()
        elif world.happens(chances.quiet):
            world.quiet()
        elif world.people.act() or world.updates.act():
            pass
        else:
            self._act()

    def _act(self) -> None:
        acts = [self._create] * 3
        if self._world.callers.sessions:
            acts += [self._send] * 8 + [self._wait] * 4 + [self._order] * 3
            acts += [self._list, self._read, self._repeat]
        if self._world.clients.session is not None:
            acts += [self._send_to_client] * 3 + [self._client_calls] * 4
        self._random.choice(acts)()

    # -- what callers do ---------------------------------------------------------------------------

    def _text(self) -> str:
        self._texts += 1
        return f"prompt {self._texts}"

    def _waits(self) -> int:
        return self._random.choice(WAITS)

    def _client_id(self) -> str | None:
        return f"id-{self._texts}" if self._random.random() < 0.3 else None

    def _agent(self) -> str | None:
        """Who calls: the owner, or the agent of a session."""
        world = self._world
        client = world.clients.session
        if client is not None and self._random.random() < 0.3:
            return client
        cards = world.books.cards
        if cards.random is not None and cards.asks_owner and cards.happens(ASKS_OWNER):
            working = [each for each in world.callers.sessions if world.books.at_work(each)]
            if working:
                return cards.random.choice(working)
        callers = [each for each in world.callers.sessions[:3] if each != client][:2]
        if not callers or not world.happens(world.chances.agents):
            return None
        return self._random.choice(callers)

    def _who_prompts(self, session: str) -> str | None:
        """A session that an agent has started is prompted by nobody else, so that the agent's limit holds."""
        return self._world.books.started_by.get(session) or self._agent()

    def _session(self) -> str:
        sessions = self._world.callers.sessions
        return self._random.choice(sessions[-3:] if self._random.random() < 0.7 else sessions)

    def _create(self) -> None:
        agent = self._agent()
        more = {"provider": STEERED} if agent or self._random.random() < 0.5 else {}
        text, waits = self._text(), self._waits()
        self._world.call("create_session", self._client_id(), agent, text=text, wait_seconds=waits, **more)

    def _send(self) -> None:
        more: dict[str, Any] = {"if_busy": "fail"} if self._random.random() < 0.1 else {}
        session = self._session()
        burst = self._world.happens(self._world.chances.burst)
        if burst and session not in self._world.books.started_by:
            for _ in range(MANY):
                self._world.call("send", session=session, text=self._text(), wait_seconds=0)
        text, waits, by = self._text(), self._waits(), self._who_prompts(session)
        self._world.call(
            "send", self._client_id(), by, session=session, text=text, wait_seconds=waits, **more
        )

    def _wait(self) -> None:
        session, message = self._random.choice(self._world.callers.messages[-6:])
        self._world.call(
            "wait", agent=self._agent(), session=session, message_id=message, wait_seconds=self._waits()
        )

    def _send_to_client(self) -> None:
        client, agent = str(self._world.clients.session), self._agent()
        text, waits = self._text(), self._waits()
        self._world.call("send", self._client_id(), agent, session=client, text=text, wait_seconds=waits)

    def _client_calls(self) -> None:
        client = self._world.clients.session
        if self._random.random() < 0.5:
            self._world.call("wait", self._client_id(), client, wait_seconds=self._waits())
        else:
            self._world.call("list_sessions", self._client_id(), client)

    def _list(self) -> None:
        self._world.call("list_sessions", scope=self._random.choice(("active", "recent", "all")))

    def _read(self) -> None:
        self._world.call("read_session", session=self._session())

    def _repeat(self) -> None:
        """The same call again, because its caller does not know whether the first one came through."""
        known = self._world.callers.with_ids
        if known:
            first, world = self._random.choice(known), self._world
            now = world.clock.monotonic()
            world.begin(replace(first, number=world.next_call(), began=now, is_repeat=True, result=None))

    def _order(self) -> None:
        orders, session = self._world.orders, self._session()
        if self._random.random() < 0.3:
            put_away = self._world.happens(self._world.chances.put_away)
            action = "archive" if put_away else "stop"
            self._world.call(action, self._client_id(), self._agent(), session=session)
        elif self._world.happens(self._world.chances.put_away):
            self._random.choice((orders.archive, orders.delete))(session)
        else:
            self._random.choice((orders.stop, orders.stop, orders.kill, orders.go_on))(session)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Let everything go on that somebody has held."""
        for session in self._world.callers.sessions:
            self._world.orders.go_on(session)
        self._world.fanouts.finish()
