"""What a fake agent does at each line of a prompt: the orders that it knows."""

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.agents.fake_agent import Conversation, FakeAgent


class Cancelled(Exception):
    """The client has cancelled the turn."""


class Failed(Exception):
    """The turn ends in a JSON-RPC error."""

    def __init__(self, code: int, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.code = code
        self.data = data


def text_block(text: str) -> Any:
    """Give a piece of content that is text."""
    return {"type": "text", "text": text}


class Turn:
    """The orders of one prompt."""

    def __init__(self, agent: "FakeAgent", number: Any, session: str, conversation: "Conversation") -> None:
        self.agent = agent
        self.number = number
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
        self.agent.update(self.session, "agent_message_chunk", content=text_block(text))

    def ask(self, method: str, **params: Any) -> Any:
        """Ask the client for something of this session."""
        return self.agent.peer.ask(method, {"sessionId": self.session, **params})

    def think(self, text: str) -> None:
        """Have a thought, make a plan, use tools, and tell what it costs."""
        self.agent.update(self.session, "agent_thought_chunk", content=text_block(text or "hm"))
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
        self.agent.update("another", "agent_message_chunk", content=text_block("of another session\n"))

    def wrong_ids(self, _: str) -> None:
        """Answer what was not asked."""
        for number in (999, -1, "0", True, 10**400):
            self.agent.peer.say(id=number, result={"stopReason": "end_turn"})

    def flood(self, count: str) -> None:
        """Send many notifications."""
        for number in range(int(count)):
            self.agent.update(self.session, "agent_thought_chunk", content=text_block(f"thought {number}"))

    def ask_often(self, count: str) -> None:
        """Ask for permission many times at once."""
        call = {"toolCallId": "t", "title": "again"}
        options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        for number in range(int(count)):
            self.agent.peer.say(id=f"often-{number}", method="session/request_permission", params=params)
        self.conversation.cancelled.wait()
        raise Cancelled

    def twice(self, late: str) -> None:
        """Answer this prompt twice and say something late, in one write: nothing comes between."""
        ends = [{"id": self.number, "result": {"stopReason": reason}} for reason in ("end_turn", "refusal")]
        update = {"sessionUpdate": "agent_message_chunk", "content": text_block(late)}
        told = {"method": "session/update", "params": {"sessionId": self.session, "update": update}}
        lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in (*ends, told)]
        self.agent.peer.write("".join(f"{line}\n" for line in lines).encode())


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
