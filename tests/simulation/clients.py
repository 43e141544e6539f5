"""The client of an external conversation in a simulated world, and what must hold of what it is given."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from showcaller.actors.relay.answers import written
from tests.simulation.books import Broken
from tests.simulation.stored import Stored

if TYPE_CHECKING:
    from tests.simulation.callers import Calling
    from tests.simulation.world import World

WORLDS = 0.3  # of all, in which there is one
MOST_CALLS = 300


class Had(NamedTuple):
    """With which answer a message came: in which life of the relay, under which client id."""

    life: int
    client_id: str | None

    def may_repeat(self, before: "Had") -> bool:
        """Whether what came before may come again: the relay has died since, or the call is a repeat."""
        return self.life != before.life or (self.client_id is not None and self == before)


class Clients:
    """The one external conversation of a world, if there is one, and what has come to its client."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.session: str | None = None
        self.had: dict[str, Had] = {}

    def settle_in(self) -> None:
        """Have the conversation stored, as a new token's is."""
        world = self._world
        world.settle(work=False)
        writer = world.life.actor._writer
        assert writer is not None
        row = {"id": world.new_id("ses_"), "title": "a client", "provider": "external", "mode": "agent"}
        more = {"origin": "owner", "created_at": world.clock.wall()}
        stored = written(writer, "create_session", session={**row, **more}, message=None)
        world.settle(work=False)
        assert stored.get().error is None
        self.session = row["id"]

    def calls(self, session: str | None) -> bool:
        """Whether it is this conversation that calls, so that its caller is no agent of the relay's."""
        return session is not None and session == self.session

    def runs(self, session: str) -> bool:
        """Whether this is the conversation, and a call of it is under way."""
        return self.calls(session) and any(call.agent == session for call in self._world.callers.under_way)

    def hear(self, calling: "Calling", result: Mapping[str, Any]) -> None:
        """Take what has come with an answer; raises Broken for what may not come again, or out of order."""
        if not self.calls(calling.agent) or calling.action == "read_session":
            return
        now = Had(self._world.lives, calling.client_id)
        for message in result.get("messages", ()):
            before = self.had.get(message["id"])
            if before is not None and not now.may_repeat(before):
                raise Broken(f"{message['id']} came twice: with {before} and with {now}")
            if before is None:
                self._world.books.given_in[str(self.session)].append(message["id"])
            self.had[message["id"]] = now

    def drain(self) -> None:
        """Call until nothing comes any more and what came is confirmed."""
        if self.session is None:
            return
        world, came = self._world, True
        for _ in range(MOST_CALLS):
            calling = world.call("list_relays", agent=self.session)
            world.settle()
            assert calling.result is not None
            if "retryAfterSeconds" in calling.result:
                world.clock.move_to(world.clock.monotonic() + calling.result["retryAfterSeconds"])
                continue
            if not calling.result["ok"] or not (came or calling.result.get("messages")):
                return
            came = bool(calling.result.get("messages"))
        raise Broken(f"{self.session} gets messages without end")

    def check(self, stored: Stored) -> None:
        """What is stored as taken has come to the client, and no worker has had anything of it."""
        for row in stored.of(str(self.session)):
            if row["status"] == "done" and row["id"] not in self.had:
                raise Broken(f"{row['id']} is stored as taken, and never came to its client")
        given = [run.turn for run in self._world.books.runs.values() if self.calls(run.session)]
        if given:
            raise Broken(f"{given} went to a worker, and are for an external conversation")

    def check_quiet(self, stored: Stored) -> None:
        """Nobody waits for a message while one waits that has not come in this life of the relay."""
        session, now = str(self.session), self._world.lives
        if self.session is None or stored.sessions[session]["held_at"] is not None:
            return
        waiting = [row["id"] for row in stored.of(session, "queued")]
        new = [each for each in waiting if each not in self.had or self.had[each].life != now]
        for calling in self._world.callers.under_way:
            is_bare = calling.action == "wait" and "session" not in calling.arguments
            if new and is_bare and self.calls(calling.agent):
                raise Broken(f"call {calling.number} waits for what comes, and {new} is there")
