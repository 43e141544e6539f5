"""Agents that ask on a stage, and people who answer."""

from typing import Any

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.relay.card_messages import GiveAnswer
from showcaller.actors.relay.messages import AwaitEnd, IfAwake, ToSession
from showcaller.actors.runtime import Future
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage
from tests.actors.relay.test_outliving import Workforce

HOURS = 3600


def asked(stage: Stage, *labels: str, card: str = "c1", **more: Any) -> tuple[str, str, str]:
    """Have a session whose agent asks; gives it, its turn and the card's id."""
    session, turn = stage.create()
    return session, turn, ask(stage, turn, *labels, card=card, **more)


def ask(stage: Stage, turn: str, *labels: str, card: str = "c1", **more: Any) -> str:
    """Have the agent of a turn ask; gives the card's id."""
    stage.workers.ask(turn, card, *(labels or ("Yes", "No")), **more)
    stage.settle()
    return next(str(row["id"]) for row in waiting(stage) if row["worker_card"] == card)


def waiting(stage: Stage) -> list[dict[str, Any]]:
    """The cards that wait, newest first."""
    found: list[dict[str, Any]] = stage.read("inbox")["cards"]
    return found


def begin(stage: Stage, session: str, card: str, **more: Any) -> "Future[Any]":
    """Answer a card; nothing is run yet."""
    return stage.supervisor.request(ToSession(session, GiveAnswer(card, **more)))


def give(stage: Stage, session: str, card: str, **more: Any) -> Any:
    """Answer a card, and give what that is answered: a refusal as what it is."""
    given = begin(stage, session, card, **more)
    stage.settle()
    return outcome(given)


def outcome(given: "Future[Any]") -> Any:
    """What was answered, a refusal being an answer too."""
    assert given.done
    try:
        return given.get()
    except Refusal as refusal:
        return refusal


def status(stage: Stage, card: str) -> str:
    """How a card stands."""
    return str(stage.read("card", card=card)["status"])


def await_end(stage: Stage, session: str, message: str) -> "Future[Any]":
    """Wait for a message's end, as a call does."""
    waited = stage.supervisor.request(IfAwake(session, AwaitEnd(message)))
    stage.settle()
    return waited


def outliving(open_stage: OpenStage, before: Stage | None = None, **more: Any) -> Stage:
    """Open a stage whose worker outlives it, or the next one over the store, worker and time of one."""
    if before is None:
        return open_stage(outliving=Workforce(), **more)
    before.drop()
    workforce = Workforce()
    stage = open_stage(outliving=workforce, settled=False, **more)
    stage.dispatcher.manual_clock.set_wall(before.dispatcher.manual_clock.wall())
    stage.settle()
    stage.workers.send(workforce.asked)
    return stage
