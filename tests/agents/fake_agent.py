"""A fake agent that speaks the Agent Client Protocol, on the standard library alone: quick to start.

Every line of a prompt is an order, taken one after the other (``fake_orders.py``); a line that is none is
answered with itself. Options of its command line say how it takes the handshake; conversations live in files
of the folder that ``FAKE_AGENT_STATE`` names, so that they outlive its process.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # it is started by its path, with no path of its own
from tests.agents.fake_orders import Cancelled, Failed, Turn, text_block

MODES = ("ask", "plan", "code", "yolo")
MODELS = ("small", "large")
EFFORTS = ("low", "high")


class Peer:
    """The client at the other end of standard input and output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[Any, Any] = {}
        self._arrived = threading.Condition()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def say(self, **message: Any) -> None:
        """Send one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and wait for its answer; raises ``Failed`` for an error."""
        with self._arrived:
            self._number += 1
            number = f"fake-{self._number}"
        self.say(id=number, method=method, params=params)
        with self._arrived:
            self._arrived.wait_for(lambda: number in self._answers)
            answer = self._answers.pop(number)
        if "error" in answer:
            raise Failed(answer["error"]["code"], answer["error"]["message"], answer["error"].get("data"))
        return answer.get("result")

    def answered(self, message: Any) -> None:
        """An answer has come."""
        with self._arrived:
            self._answers[message["id"]] = message
            self._arrived.notify_all()


class Conversation:
    """One session of the agent, in a file."""

    def __init__(self, file: Path, cwd: str) -> None:
        self.file = file
        self.cwd = cwd
        self.servers: list[Any] = []
        self.settings = {"mode": "code", "model": "small", "effort": "low"}
        self.cancelled = threading.Event()

    def lines(self) -> list[str]:
        """Give the prompts so far."""
        return [json.loads(line)["prompt"] for line in self.file.read_text().splitlines()[1:]]

    def note(self, prompt: str) -> None:
        """Keep a prompt."""
        with self.file.open("a") as file:
            file.write(json.dumps({"prompt": prompt}) + "\n")


class FakeAgent:
    """Answers the client's requests, each prompt in a thread of its own."""

    def __init__(self, options: set[str], state: Path) -> None:
        self.options = options
        self.peer = Peer()
        self._state = state
        self._open: dict[str, Conversation] = {}
        self._number = 0

    # -- requests of the client --------------------------------------------------------------------

    def initialize(self, _: Any) -> Any:
        """Tell what it can."""
        if "die-at-start" in self.options:
            sys.stderr.write("fake: no licence found\n")
            sys.stderr.flush()
            os._exit(3)
        sessions: dict[str, Any] = {"list": {}}
        if "no-resume" not in self.options:
            sessions["resume"] = {}
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "fake", "version": "1.5"},
            "authMethods": [{"id": "login", "name": "Log in", "description": "Run: fake login"}],
            "agentCapabilities": {
                "loadSession": "no-load" not in self.options,
                "mcpCapabilities": {"http": "no-http" not in self.options},
                "sessionCapabilities": sessions,
            },
        }

    def new(self, params: Any) -> Any:
        """Begin a conversation."""
        if "auth" in self.options:
            raise Failed(-32000, "Authentication required")
        self._number += 1
        name = f"fake-{os.getpid()}-{self._number}"
        conversation = Conversation(self._state / f"{name}.jsonl", params["cwd"])
        conversation.file.write_text(json.dumps({"cwd": params["cwd"]}) + "\n")
        return {"sessionId": name, **self._begin(name, conversation, params)}

    def load(self, params: Any) -> Any:
        """Take up a conversation and tell it again."""
        conversation = self._found(params)
        if "blank" not in self.options:
            for prompt in conversation.lines():
                self.update(params["sessionId"], "user_message_chunk", content=text_block(prompt))
                self.update(
                    params["sessionId"], "agent_message_chunk", content=text_block(f"told again: {prompt}")
                )
        return self._begin(params["sessionId"], conversation, params)

    def resume(self, params: Any) -> Any:
        """Take up a conversation without telling it again."""
        return self._begin(params["sessionId"], self._found(params), params)

    def list(self, _: Any) -> Any:
        """List the conversations."""
        files = sorted(self._state.glob("*.jsonl"))
        return {
            "sessions": [
                {"sessionId": file.stem, "cwd": json.loads(file.read_text().splitlines()[0])["cwd"]}
                for file in files
            ]
        }

    def set_mode(self, params: Any) -> Any:
        """Change the mode."""
        if "refuse-mode" in self.options:
            raise Failed(-32602, "this mode is not allowed here")
        self._open[params["sessionId"]].settings["mode"] = params["modeId"]
        return {}

    def set_config_option(self, params: Any) -> Any:
        """Change the model or the effort."""
        conversation = self._open[params["sessionId"]]
        conversation.settings[params["configId"]] = params["value"]
        return {"configOptions": self._config(conversation)}

    def prompt(self, number: Any, params: Any) -> Any:
        """Carry out the orders of a prompt, which is the client's request of that number."""
        session = params["sessionId"]
        conversation = self._open[session]
        conversation.cancelled.clear()
        text = "\n".join(block["text"] for block in params["prompt"])
        conversation.note(text)
        turn = Turn(self, number, session, conversation)
        try:
            for line in text.splitlines():
                turn.take(line)
        except Cancelled:
            return {"stopReason": "cancelled"}
        return {"stopReason": turn.stop_reason}

    def cancel(self, params: Any) -> None:
        """Cancel the turn that runs."""
        self._open[params["sessionId"]].cancelled.set()

    # -- parts -------------------------------------------------------------------------------------

    def update(self, session: str, what: str, **fields: Any) -> None:
        """Tell of something within a session."""
        self.peer.say(
            method="session/update",
            params={"sessionId": session, "update": {"sessionUpdate": what, **fields}},
        )

    def _found(self, params: Any) -> Conversation:
        file = self._state / f"{params['sessionId']}.jsonl"
        if not file.exists():
            raise Failed(-32002, f"no such session: {params['sessionId']}")
        return Conversation(file, params["cwd"])

    def _begin(self, name: str, conversation: Conversation, params: Any) -> Any:
        conversation.servers = params["mcpServers"]
        self._open[name] = conversation
        if "plain" in self.options:
            return {}
        modes = [{"id": mode, "name": mode.title()} for mode in MODES]
        return {
            "modes": {"currentModeId": conversation.settings["mode"], "availableModes": modes},
            "configOptions": self._config(conversation),
        }

    def _config(self, conversation: Conversation) -> Any:
        return [
            _select("model", "model", conversation.settings["model"], MODELS),
            _select("effort", "thought_level", conversation.settings["effort"], EFFORTS),
        ]

    # -- the wire ----------------------------------------------------------------------------------

    def serve(self) -> None:
        """Serve until standard input ends."""
        if "chatty" in self.options:
            self.peer.write(b"Fake agent 1.5 is starting...\n")
        if "deaf-to-the-end" in self.options:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                self.peer.answered(message)
            elif message["method"] == "session/prompt":
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()
            elif "slow-start" not in self.options:
                self._answer(message)
        if "deaf-to-the-end" in self.options:
            threading.Event().wait()

    def _answer(self, message: Any) -> None:
        try:
            result = self._result(message)
        except Failed as error:
            told = {"code": error.code, "message": str(error), "data": error.data}
            if "id" in message:
                self.peer.say(id=message["id"], error=told)
            return
        if "id" in message:
            self.peer.say(id=message["id"], result=result)

    def _result(self, message: Any) -> Any:
        if message["method"] == "session/prompt":
            return self.prompt(message["id"], message["params"])
        method = _METHODS.get(message["method"])
        if method is None:
            raise Failed(-32601, "Method not found", {"method": message["method"]})
        return method(self, message["params"])


def _select(name: str, category: str, value: str, values: tuple[str, ...]) -> Any:
    options = [{"value": each, "name": each.title()} for each in values]
    fields = {"id": name, "name": name.title(), "category": category, "type": "select"}
    return {**fields, "currentValue": value, "options": options}


_METHODS: dict[str, Callable[[FakeAgent, Any], Any]] = {
    "initialize": FakeAgent.initialize,
    "session/new": FakeAgent.new,
    "session/load": FakeAgent.load,
    "session/resume": FakeAgent.resume,
    "session/list": FakeAgent.list,
    "session/set_mode": FakeAgent.set_mode,
    "session/set_config_option": FakeAgent.set_config_option,
    "session/cancel": FakeAgent.cancel,
}
if __name__ == "__main__":
    FakeAgent(set(sys.argv[1:]), Path(os.environ["FAKE_AGENT_STATE"])).serve()
