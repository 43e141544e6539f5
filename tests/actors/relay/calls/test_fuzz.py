"""Whatever is called, a relay answers with a result or a refusal, and never with a mistake of its own.

A million: ``FUZZ_CALLS=1000000 FUZZ_SEED=7 pytest --timeout 0 --basetemp /dev/shm/f`` and this file.
"""

import json
import os
import random
from collections import Counter
from typing import Any, Final

from showcaller.actors.contract.actions import available_actions
from showcaller.actors.contract.errors import Code
from showcaller.actors.contract.worker import TaskEnded, TaskOutput, TaskStarted
from showcaller.actors.relay.calls import OWNER, ActRequest, Caller, CallRequest
from tests.actors.contract.recombined import recombined
from tests.actors.contract.strategies import FEW
from tests.actors.relay.calls.agents import open_to_agents
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

CODES = {code.value for code in Code} - {Code.INTERNAL.value}
LONGEST_ANSWER = 200_000


PLAUSIBLE: Final[dict[str, list[Any]]] = {
    "relay": [*["this"] * 20, "stage", "@Stage", "elsewhere"],
    "text": [*"xyzxyz", "é" * 1000, "\u202eright\u200b", "\ud800", "x" * 100_000, "x" * 100_001, " ", "a\0b"],
    "wait_seconds": [0, 0, 0, 0, 1, -1, 10**6, 10**30, "0", -0.0],
    "scope": ["active", "recent", "ALL", "none"],
    "query": ["x", "%", "_", "É", "'"],
    "limit": [1, 2, 100, 1000, 0],
    "last": [1, 50, 0],
    "max_chars": [500, 50_000, 1],
    "lines": [1, 500],
    "mode": ["ask", "plan", "agent", "autopilot"],
    "effort": ["high", "Not one"],
    "model": ["m"],
    "if_busy": ["queue", "fail"],
    "provider": ["helper", "joiner", "command", "callable:os:getcwd", "claude"],
    "cwd": ["/", "/nowhere", "..", "/dev/null", "~"],
    "group": ["none", "t", "grp_000000", "x"],
    "title": ["t", "\u2028"],
}
"""Values that make calls which get far, and some that do not."""


class Fuzz:
    """A relay with a busy worker, and callers who send it anything."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.chance = random.Random(seed)
        self.came: Counter[str] = Counter()
        self.messages: list[str] = []
        self.tasks = 0
        self.task_ids: list[str] = []
        self.running: list[dict[str, Any]] = []
        self.cursors: list[str] = ["x"]
        self.sessions = list(FEW)
        for session in FEW:
            self.create(session)

    def create(self, session: str) -> None:
        """Make a session under an id that the calls name."""
        ids = iter([session])
        made = self.stage.new_id
        object.__setattr__(
            self.stage.ports,
            "new_id",
            lambda prefix: next(ids, None) or made(prefix) if prefix == "ses_" else made(prefix),
        )
        provider = self.chance.choice(["helper", "joiner", "command"])
        self.take(CallRequest({"action": "create_session", "relay": "this", "text": "x", "provider": provider,
                               "wait_seconds": 0}, OWNER))  # fmt: skip

    def caller(self) -> Caller:
        """Draw who calls."""
        return OWNER if self.chance.random() < 0.7 else Caller("agent", self.chance.choice(self.sessions))

    def client_id(self) -> str | None:
        """Draw the name of a write, of few, so that they meet."""
        return self.chance.choice([None, None, "one", "two", "three"])

    def plausible(self) -> dict[str, Any]:
        """Draw a call that may well be carried out."""
        row = self.chance.choice(available_actions())
        pools = {**PLAUSIBLE, "message_id": self.messages or ["m"], "task_id": self.task_ids or ["t"]}
        pools |= {"cursor": self.cursors, "before": self.cursors}
        pools["session"] = [
            *self.sessions * 4,
            FEW[0],
            self.sessions[0][:10],
            "ses_000000",
            "ses_zzzzzzzzzzzz",
        ]
        needed = {name for name, field in row.model.model_fields.items() if field.is_required()}
        needed |= row.model.not_external
        return {"action": row.name} | {
            name: self.chance.choice(pools[name])
            for name in row.arguments
            if name in pools and (name in needed or self.chance.random() < 0.12)
        }

    def call(self, drawn: Any) -> None:
        """Make a call, of a message that there is if it names one."""
        if isinstance(drawn, dict):
            known = {"message_id": self.messages, "task_id": self.task_ids}
            drawn = {
                name: self.chance.choice(known[name])
                if known.get(name) and self.chance.random() < 0.7
                else value
                for name, value in drawn.items()
            }
            drawn |= {"wait_seconds": 0} if "wait_seconds" in drawn or self.chance.random() < 0.9 else {}
        self.take(CallRequest(drawn, self.caller(), self.client_id()))

    def act(self) -> None:
        """Do what only the owner may."""
        session: Any = self.chance.choice([*self.sessions, *FEW, "nothing", 7, None])
        action: Any = self.chance.choice(["kill", "go_on", "go_on", "go_on", "delete"])
        self.take(ActRequest(action, session, self.client_id()))

    def work(self) -> None:
        """Have the worker do something."""
        workers = self.stage.workers
        turn = self.chance.choice(sorted(workers.open)) if workers.open else None
        if turn is not None and self.chance.random() < 0.8:
            reply = self.chance.choice(["", "Done.", "Which?", "x" * 9000])
            outcome = self.chance.choice(["done", "done", "failed", "stopped"])
            workers.end(turn, outcome, reply=reply)
        elif turn is not None and self.chance.random() < 0.5:
            self.tasks += 1
            here: dict[str, Any] = {"session": workers.run_of(turn).session, "task": f"t{self.tasks}"}
            self.running.append(here)
            workers.say(TaskStarted(**here, type="command", description="d"))
            workers.say(TaskOutput(**here, text="\x1b[1m5 passed in 0.1s\n"))
        elif self.running:
            workers.say(TaskEnded(**self.running.pop(), outcome="done"))
        self.stage.settle()

    def take(self, request: CallRequest | ActRequest) -> None:
        """Have a call carried out, and look at what it gives."""
        begun = self.stage.door._request(request)
        self.stage.settle()
        if not begun.done:
            self.stage.advance(3600)
        result = begun.get()
        written = json.dumps(result, allow_nan=False)
        assert len(written) < LONGEST_ANSWER, request
        assert result["ok"] or result["code"] in CODES, (request, result)
        self.came[result.get("status", "ok") if result["ok"] else result["code"]] += 1
        if result["ok"] and result["summary"].startswith("create_session"):
            self.sessions = [*self.sessions[-5:], result["session"]]
        elif result["ok"] and result["summary"].startswith(("archive", "delete")):
            self.sessions = [session for session in self.sessions if session != result["session"]]
            self.create(self.stage.new_id("ses_"))
        self.cursors += [result[name] for name in ("nextCursor", "olderCursor") if name in result]
        self.cursors = self.cursors[-20:]
        self.task_ids = [*self.task_ids, *(task["id"] for task in result.get("tasks", ()))][-20:]
        if result.get("message_id"):
            self.messages = [*self.messages[-20:], result["message_id"]]


def test_any_call_of_anybody_is_carried_out_or_refused_with_a_code(open_stage: OpenStage) -> None:
    count, seed = (int(os.environ.get(name, "600")) for name in ("FUZZ_CALLS", "FUZZ_SEED"))
    stage = open_to_agents(open_stage, seed)
    fuzz = Fuzz(stage, seed)
    for number, drawn in enumerate(recombined(seed, count)):
        fuzz.call(drawn if number % 4 == 0 else fuzz.plausible())
        if number % 3 == 0:
            fuzz.work()
        if number % 50 == 0:
            fuzz.act()
            stage.advance(20)
    assert fuzz.came.total() > count
    assert len(fuzz.came) >= 8
