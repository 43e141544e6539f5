"""An external conversation on a stage, and its client as a caller."""

from typing import Any

from showcaller.actors.relay.answers import written
from showcaller.actors.relay.calls import Caller, CallRequest
from showcaller.actors.relay.supervisor import Supervisor
from showcaller.actors.runtime import Future
from tests.actors.relay.stage import Stage


class Client:
    """The client of an external conversation."""

    def __init__(self, stage: Stage, session: str) -> None:
        self.stage = stage
        self.session = session
        self.caller = Caller("external", session)

    def on(self, stage: Stage) -> "Client":
        """Give the same client as it calls another life of the relay."""
        return Client(stage, self.session)

    def begin(self, action: str, client_id: str | None = None, /, **arguments: Any) -> "Future[Any]":
        """Begin a call, and give the future of its result."""
        return self.stage.begin(action, client_id, self.caller, **arguments)

    def call(
        self, action: str = "list_relays", client_id: str | None = None, /, **more: Any
    ) -> dict[str, Any]:
        """Carry out a call, and give its result."""
        return self.stage.call(action, client_id, self.caller, **more)

    def start(self, action: str, /, **arguments: Any) -> Any:
        """Begin a call that its client may give up."""
        call = {"action": action, "relay": "this", **arguments}
        return self.stage.door._start(CallRequest(call, self.caller))

    def gone_while_waiting(self) -> Any:
        """Begin to wait for whatever comes, and go; gives the call."""
        begun = self.start("wait", wait_seconds=600)
        self.stage.settle()
        begun.give_up()
        self.stage.settle()
        return begun

    def texts(self, client_id: str | None = None) -> list[str]:
        """Make a call, and give the texts of the messages that come with it."""
        return texts(self.call("list_relays", client_id))

    def state(self) -> str:
        """How the conversation is shown to its owner, in both views."""
        (listed,) = [
            row
            for row in self.stage.call("list_sessions", scope="all")["sessions"]
            if row["id"] == self.session
        ]
        read = self.stage.call("read_session", session=self.session)
        assert read["state"] == read["session"]["state"] == listed["state"]
        state: str = read["state"]
        return state


def texts(result: dict[str, Any]) -> list[str]:
    """The texts of the messages that came with an answer."""
    return [message["text"] for message in result.get("messages", ())]


def client(stage: Stage, name: str = "laptop", **more: Any) -> Client:
    """Have a token's conversation stored, and give its client."""
    session = stage.new_id("ses_")
    row = {
        "id": session,
        "title": name,
        "provider": "external",
        "mode": "agent",
        "origin": "owner",
        "created_at": 1_000,
        **more,
    }
    actor = stage.supervisor._actor
    assert isinstance(actor, Supervisor)
    assert actor._writer is not None
    stored = written(actor._writer, "create_session", session=row, message=None)
    stage.settle()
    assert stored.get().error is None
    return Client(stage, session)
