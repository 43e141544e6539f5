"""A fake agent that speaks the Agent Client Protocol, on the standard library alone: quick to start.

Every line of a prompt is an order, taken one after the other (``ORDERS``); a line that is none is answered
with itself. Options of its command line say how it takes the handshake; conversations live in files of the
folder that ``FAKE_AGENT_STATE`` names, so that they outlive its process.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODES = ("ask", "plan", "code", "yolo")
MODELS = ("small", "large")
EFFORTS = ("low", "high")


class Cancelled(Exception):
    """The client has cancelled the turn."""


class Failed(Exception):
    """The turn ends in a JSON-RPC error."""

    def __init__(self, code: int, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.code = code
        self.data = data


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
                self.update(params["sessionId"], "user_message_chunk", content=_text(prompt))
                self.update(
                    params["sessionId"], "agent_message_chunk", content=_text(f"told again: {prompt}")
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

    def prompt(self, params: Any) -> Any:
        """Carry out the orders of a prompt."""
        session = params["sessionId"]
        conversation = self._open[session]
        conversation.cancelled.clear()
        text = "\n".join(block["text"] for block in params["prompt"])
        conversation.note(text)
        turn = Turn(self, session, conversation)
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
        method = _METHODS.get(message["method"])
        try:
            if method is None:
                raise Failed(-32601, "Method not found", {"method": message["method"]})
            result = method(self, message["params"])
        except Failed as error:
            told = {"code": error.code, "message": str(error), "data": error.data}
            if "id" in message:
                self.peer.say(id=message["id"], error=told)
            return
        if "id" in message:
            self.peer.say(id=message["id"], result=result)


class Turn:
    """The orders of one prompt."""

    def __init__(self, agent: FakeAgent, session: str, conversation: Conversation) -> None:
        self.agent = agent
        self.session = session
        self.conversation = conversation
        self.stop_reason = "end_turn"

    def take(self, line: str) -> None:
        """Carry out one line."""
        word, _, rest = line.partition(" ")
        order = ORDERS.get(word)
        if order is None:
            self.say(f"you said: {line}\n")
        else:
            order(self, rest)

    def say(self, text: str) -> None:
        """Say a piece of the reply."""
        self.agent.update(self.session, "agent_message_chunk", content=_text(text))

    def ask(self, method: str, **params: Any) -> Any:
        """Ask the client for something of this session."""
        return self.agent.peer.ask(method, {"sessionId": self.session, **params})

    def think(self, text: str) -> None:
        """Have a thought, make a plan, use tools, and tell what it costs."""
        self.agent.update(self.session, "agent_thought_chunk", content=_text(text or "hm"))
        entry = {"content": "look around", "priority": "high", "status": "pending"}
        self.agent.update(self.session, "plan", entries=[entry])
        self.tool(text)
        self.agent.update(self.session, "usage_update", used=10, size=1000)

    def tool(self, title: str) -> None:
        """Use a tool and say nothing."""
        self.agent.update(
            self.session, "tool_call", toolCallId="t1", title=title or "Look", kind="read", status="pending"
        )
        self.agent.update(self.session, "tool_call_update", toolCallId="t1", status="completed")

    def stream(self, count: str) -> None:
        """Say many pieces."""
        for number in range(int(count)):
            self.say(f"{number} ")

    def permission(self, title: str) -> None:
        """Ask for permission, and say what came of it."""
        options = [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        call = {"toolCallId": "t2", "title": title or "Run make", "rawInput": {"command": "make"}}
        answer = self.ask("session/request_permission", toolCall=call, options=options)
        outcome = answer["outcome"]
        if outcome["outcome"] == "cancelled" and self.conversation.cancelled.wait(5):
            raise Cancelled
        self.say(f"permission: {outcome.get('optionId', outcome['outcome'])}\n")

    def form(self, _: str) -> None:
        """Ask the user, with a form of one choice and one text, and say the answer."""
        schema = {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "title": "Colour", "enum": ["red", "blue"]},
                "why": {"type": "string", "title": "Why"},
            },
            "required": ["colour"],
        }
        answer = self.ask("elicitation/create", mode="form", message="Which colour?", requestedSchema=schema)
        self.say(f"form: {json.dumps(answer, sort_keys=True)}\n")

    def choose(self, _: str) -> None:
        """Ask the user, with one choice alone, and say the answer."""
        colour = {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}],
        }
        schema = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
        answer = self.ask("elicitation/create", mode="form", message="Red or blue?", requestedSchema=schema)
        self.say(f"chosen: {json.dumps(answer, sort_keys=True)}\n")

    def crash(self, code: str) -> None:
        """End in the middle of the turn."""
        sys.stderr.write("fake: out of memory\n")
        sys.stderr.flush()
        os._exit(int(code or 1))

    def hang(self, _: str) -> None:
        """Do nothing until the turn is cancelled."""
        self.say("hanging\n")
        self.conversation.cancelled.wait()
        raise Cancelled

    def deaf(self, _: str) -> None:
        """Do nothing, and ignore being cancelled."""
        self.say("deaf\n")
        threading.Event().wait()

    def huge(self, size: str) -> None:
        """Say one long line."""
        self.say("x" * int(size))

    def endless(self, megabytes: str) -> None:
        """Write a line that does not end."""
        for _ in range(int(megabytes)):
            self.agent.peer.write(b"x" * 1_000_000)

    def stop(self, reason: str) -> None:
        """End with this reason, whether there is one or not."""
        self.stop_reason = reason

    def empty(self, _: str) -> None:
        """Say nothing."""

    def error(self, rest: str) -> None:
        """End in an error."""
        code, _, text = rest.partition(" ")
        raise Failed(int(code), text)

    def spoken_error(self, rest: str) -> None:
        """Say an error as if it were the reply, and end in it."""
        self.say(rest.partition(" ")[2])
        self.error(rest)

    def child(self, seconds: str) -> None:
        """Leave a child behind, in a session of its own."""
        child = subprocess.Popen(["sleep", seconds or "1000"], start_new_session=True)
        self.say(f"child {child.pid}\n")

    def read(self, path: str) -> None:
        """Read a file through the client."""
        self.try_to(lambda: self.ask("fs/read_text_file", path=path)["content"])

    def write(self, rest: str) -> None:
        """Write a file through the client."""
        path, _, text = rest.partition(" ")
        self.try_to(lambda: self.ask("fs/write_text_file", path=path, content=text) or "written")

    def terminal(self, command: str) -> None:
        """Run a command in a terminal of the client, and say what came of it."""

        def run() -> str:
            made = self.ask(
                "terminal/create", command=command, cwd=self.conversation.cwd, outputByteLimit=1000
            )
            name = {"terminalId": made["terminalId"]}
            exit_code = self.ask("terminal/wait_for_exit", **name).get("exitCode")
            output = self.ask("terminal/output", **name)["output"]
            self.ask("terminal/release", **name)
            return f"{exit_code} {output}"

        self.try_to(run)

    def terminal_kill(self, command: str) -> None:
        """Run a command in a terminal of the client, and kill it."""

        def run() -> str:
            made = self.ask("terminal/create", command=command, cwd=self.conversation.cwd)
            name = {"terminalId": made["terminalId"]}
            self.ask("terminal/kill", **name)
            return str(self.ask("terminal/wait_for_exit", **name).get("signal"))

        self.try_to(run)

    def terminal_leave(self, command: str) -> None:
        """Run a command in a terminal of the client, say what it writes until it is ready, and leave it."""
        name = {"terminalId": self.ask("terminal/create", command=command)["terminalId"]}
        output = ""
        while "ready" not in output:
            output = self.ask("terminal/output", **name)["output"]
        self.say(output)

    def try_to(self, act: Callable[[], Any]) -> None:
        """Say what comes of it, be it an error."""
        try:
            self.say(f"{act()}\n")
        except Failed as error:
            self.say(f"refused: {error}\n")

    def recall(self, _: str) -> None:
        """Say what it was told before."""
        self.say(f"{os.getpid()} {self.session} {json.dumps(self.conversation.lines()[:-1])}\n")

    def env(self, name: str) -> None:
        """Say a variable of its environment."""
        self.say(f"{name}={os.environ.get(name)}\n")

    def mcp(self, _: str) -> None:
        """Say which MCP servers it was given."""
        self.say(json.dumps(self.conversation.servers))

    def tool_call(self, arguments: str) -> None:
        """Call our tool at the first MCP server that it was given by its address, and say the result."""
        server = next(server for server in self.conversation.servers if "url" in server)
        told = {"name": "relay_tool", "arguments": json.loads(arguments)}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": told}
        headers = {header["name"]: header["value"] for header in server["headers"]}
        headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        asked = urllib.request.Request(server["url"], json.dumps(request).encode(), headers)
        self.tool("mcp__showcaller__relay_tool")
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                lines = answer.read().decode().splitlines()
        except urllib.error.HTTPError as error:
            self.say(f"refused: {error.code} {error.read().decode()}\n")
            return
        data = [line.removeprefix("data:").strip() for line in lines if line.startswith(("data:", "{"))]
        self.say(json.dumps(json.loads(data[-1])["result"]["structuredContent"]) + "\n")

    def settings(self, _: str) -> None:
        """Say how it is set."""
        self.say(json.dumps(self.conversation.settings))

    def garbage(self, _: str) -> None:
        """Write what is no message."""
        for line in (
            b"not json",
            b"[1]",
            b"17",
            b"\xff\xfe",
            b'{"id": [1], "result": {}}',
            b"[" * 100_000,
            b"",
        ):
            self.agent.peer.write(line + b"\n")
        self.agent.peer.say(id=None, result={})
        self.agent.peer.say(id=0, error="text")
        self.agent.peer.say(id="fake-0", method="session/update", params=[])
        self.agent.peer.say(method="session/update", params={"sessionId": self.session, "update": {"x": 1}})
        self.agent.peer.say(method="session/request_permission", params=None, id={"a": 1})
        self.agent.peer.say(method=17, params={}, id=5)
        self.agent.update("another", "agent_message_chunk", content=_text("of another session\n"))

    def wrong_ids(self, _: str) -> None:
        """Answer what was not asked."""
        for number in (999, -1, "0", True, 10**400):
            self.agent.peer.say(id=number, result={"stopReason": "end_turn"})

    def flood(self, count: str) -> None:
        """Send many notifications."""
        for number in range(int(count)):
            self.agent.update(self.session, "agent_thought_chunk", content=_text(f"thought {number}"))

    def ask_often(self, count: str) -> None:
        """Ask for permission many times at once."""
        call = {"toolCallId": "t", "title": "again"}
        options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        for number in range(int(count)):
            self.agent.peer.say(id=f"often-{number}", method="session/request_permission", params=params)
        self.conversation.cancelled.wait()
        raise Cancelled

    def twice(self, _: str) -> None:
        """Answer the prompts of this process before their turns end, with every number there may be."""
        for number in range(50):
            self.agent.peer.say(id=number, result={"stopReason": "end_turn"})
            self.agent.peer.say(id=number, result={"stopReason": "refusal"})


def _text(text: str) -> Any:
    return {"type": "text", "text": text}


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
    "session/prompt": FakeAgent.prompt,
    "session/cancel": FakeAgent.cancel,
}
ORDERS: dict[str, Callable[[Turn, str], None]] = {
    "say": Turn.say,
    "think": Turn.think,
    "tool": Turn.tool,
    "stream": Turn.stream,
    "permission": Turn.permission,
    "Run": lambda turn, what: turn.permission(f"Run {what}"),
    "form": Turn.form,
    "choose": Turn.choose,
    "crash": Turn.crash,
    "hang": Turn.hang,
    "deaf": Turn.deaf,
    "huge": Turn.huge,
    "endless": Turn.endless,
    "stop": Turn.stop,
    "empty": Turn.empty,
    "error": Turn.error,
    "spoken-error": Turn.spoken_error,
    "child": Turn.child,
    "read": Turn.read,
    "write": Turn.write,
    "terminal": Turn.terminal,
    "terminal-kill": Turn.terminal_kill,
    "terminal-leave": Turn.terminal_leave,
    "recall": Turn.recall,
    "env": Turn.env,
    "mcp": Turn.mcp,
    "settings": Turn.settings,
    "tool-call": Turn.tool_call,
    "garbage": Turn.garbage,
    "wrong-ids": Turn.wrong_ids,
    "flood": Turn.flood,
    "ask-often": Turn.ask_often,
    "twice": Turn.twice,
}


if __name__ == "__main__":
    FakeAgent(set(sys.argv[1:]), Path(os.environ["FAKE_AGENT_STATE"])).serve()
