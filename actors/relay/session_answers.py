"""What a session answers those who ask it to stop, to go away or to take a prompt: pure."""

from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.relay.messages import Facts, PutAway, Repeated, Stopped, WriteId
from showcaller.actors.relay.refusals import refusal_of
from showcaller.store.batch import Answer


def write_id(call: WriteId | None, result: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Give the id of a write as the store's commands take it; ``result`` is what a repeat is to get."""
    if call is None:
        return None
    return call._asdict() if result is None else {**call._asdict(), "result": result}


def stop_answer(session: str, stored: Answer, stopped: Stopped) -> Stopped | Repeated | Refusal:
    """Say what became of a stop, given what the store answered to holding the queue."""
    refusal = refusal_of(stored)
    if refusal is None:
        repeated = "duplicate_result" in stored.value
        return Repeated(stored.value["duplicate_result"]) if repeated else stopped
    if refusal.code is not Code.STORAGE:
        return refusal
    done = "Its turn was asked to stop" if stopped.requested else "No turn ran"
    why = refusal.error.removeprefix("Nothing was stored: ")
    return Refusal(
        Code.STORAGE,
        f"{done}, and what waits in session {session} stays; but that could not be stored, so it is lost "
        f"when the relay ends: {why}",
    )


def put_away_answer(stored: Answer) -> PutAway | Repeated | Refusal:
    """Say what became of archiving or deleting a session."""
    refusal = refusal_of(stored)
    if refusal is not None:
        return refusal
    if "duplicate_result" in stored.value:
        return Repeated(stored.value["duplicate_result"])
    return PutAway(tuple(stored.value["cancelled"]))


def no_session(session: str) -> Refusal:
    """Refuse what is asked of a session that does not exist, or not any more."""
    return Refusal(Code.NOT_FOUND, f"There is no session {session}.", missing=[session])


def is_working(session: str, nothing: str) -> Refusal:
    """Refuse what only an idle session takes; ``nothing`` says that nothing was done."""
    return Refusal(Code.BUSY, f"Session {session} is working. {nothing} Wait until it is idle, or stop it.")


def facts_of(row: dict[str, Any]) -> Facts:
    """Give what a session is and stays, from its row, or from that with which it was started."""
    return Facts(
        id=row["id"],
        provider=row["provider"],
        mode=row["mode"],
        model=row.get("model"),
        effort=row.get("effort"),
        created_by=row.get("created_by"),
    )
