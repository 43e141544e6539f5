"""What a caller can read of sessions tells the same in every view, and what store and workers say."""

from typing import TYPE_CHECKING, Any

from tests.simulation.books import Broken
from tests.simulation.stored import Row, Stored

if TYPE_CHECKING:
    from tests.simulation.world import World

STATES = ("state", "waiting", "queued", "lastTurn", "process")
SAMPLED = 12  # messages that are waited for, the newest ones


def compare_views(world: "World") -> None:
    """Read every session by every call there is while nothing moves; raises Broken where two disagree."""
    stored = Stored(world.life.path)
    listed = _listed(world)
    there = {session for session in stored.sessions if not stored.is_deleted(session)}
    if listed.keys() != there:
        raise Broken(f"listed are {sorted(listed)}, stored are {sorted(there)}")
    for session, row in listed.items():
        _session_agrees(world, session, row, stored)
    for row in stored.prompts[-SAMPLED:]:
        _message_agrees(world, row, stored)
    _workers_agree(world, stored)
    _nobody_waits_in_vain(world, stored)
    world.clients.check_quiet(stored)


def _read(world: "World", action: str, **arguments: Any) -> dict[str, Any]:
    calling = world.call(action, **arguments)
    world.settle(work=False)
    if calling.result is None:
        raise Broken(f"call {calling.number} ({action}) waits, though nothing is under way")
    if not calling.result["ok"]:
        raise Broken(f"{action} {arguments} was refused while all was well: {calling.result}")
    return calling.result


def _listed(world: "World") -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    more: dict[str, Any] = {}
    while True:
        page = _read(world, "list_sessions", scope="all", limit=7, **more)
        for row in page["sessions"]:
            if row["id"] in found:
                raise Broken(f"{row['id']} is listed twice")
            found[row["id"]] = row
        if page.get("nextCursor") is None:
            return found
        more = {"cursor": page["nextCursor"]}


def _session_agrees(world: "World", session: str, listed: dict[str, Any], stored: Stored) -> None:
    read = _read(world, "read_session", session=session, last=5)
    expected = expected_states(session, stored)
    if world.clients.runs(session):
        expected["state"] = "running_turn"
    for told in (listed, read["session"], read):
        states = {name: told.get(name) for name in STATES}
        if states != expected:
            raise Broken(f"{session} is told to be {states} and is {expected}")
    conversation = [row["id"] for row in stored.messages.values() if row["session"] == session]
    shown = [row["id"] for row in read["messages"]]
    if shown != conversation[-5:]:
        raise Broken(f"{session} shows {shown} and has {conversation[-5:]}")
    waiting = [row for row in stored.cards if (row["session"], row["status"]) == (session, "pending")]
    asked = [row["id"] for row in waiting if row["kind"] != "approval"]
    if [question["id"] for question in read["pendingQuestions"]] != asked:
        raise Broken(f"{session} shows the questions {read['pendingQuestions']} and waits on {asked}")
    for work in world.life.port.worker.open.values():
        if work.run.session != session:
            continue
        written, shown = work.end.reply, read["inFlight"]["text"]
        is_end = world.chances.outlives and written.endswith(shown)  # what an earlier relay heard is gone
        if written != shown and not is_end:
            raise Broken(f"{session} writes {work.end.reply!r} and shows {read['inFlight']}")
    _actor_agrees(world, session, stored)


def expected_states(session: str, stored: Stored) -> dict[str, Any]:
    """How a session is, as its messages in the store say."""
    running = [row for row in stored.of(session, "handed") if row.get("steered_into") is None]
    over = [row for row in stored.of(session, "done", "failed", "stopped") if row.get("steered_into") is None]
    last = over[-1] if over else None
    cut = last is not None and last["stop_reason"] == "interrupted"
    tasks = any((row["session"], row["status"]) == (session, "running") for row in stored.tasks)
    kinds = {row["kind"] for row in stored.cards if (row["session"], row["status"]) == (session, "pending")}
    first = next((kind for kind in ("approval", "permission") if kind in kinds), None)
    waiting = first or ("question" if kinds else None)
    return {
        "waiting": waiting,
        "state": "running_turn" if running else "background_only" if tasks else "idle",
        "queued": len(stored.of(session, "queued")),
        "lastTurn": None if last is None else ("interrupted" if cut else last["status"]),
        "process": "alive" if running or tasks else "none",
    }


def _actor_agrees(world: "World", session: str, stored: Stored) -> None:
    """A session that is awake has the queue and the turn that the store has; one that sleeps has none."""
    actor = world.life.session_actors().get(session)
    handed = stored.of(session, "handed")
    running = [row["id"] for row in handed if row["steered_into"] is None]
    joined = [row["id"] for row in handed if row["steered_into"] is not None]
    queued = [row["id"] for row in stored.of(session, "queued")]
    held = stored.sessions[session]["held_at"] is not None
    tasks = {row["id"] for row in stored.tasks if (row["session"], row["status"]) == (session, "running")}
    if actor is None:
        left = [row for row in stored.of(session, "handed", "queued") if row.get("fanout") is None]
        if tasks or running or (left and not held and not world.clients.calls(session)):
            raise Broken(f"{session} sleeps, and {[row['id'] for row in left]} {tasks} wait or run")
        return
    if {task.id for task in actor._background.running} != tasks:
        raise Broken(f"{session} has {actor._background.running} in the background, stored are {tasks}")
    state = actor._turns.state
    turn = [] if state.turn is None else [state.turn.message.id]
    steered = [] if state.turn is None else [waiting.id for waiting in state.turn.steered]
    if steered != joined or (state.held != held and not state.hold_unstored):
        raise Broken(f"{session} has {steered} in its turn, held: {state.held}; stored: {joined}, {held}")
    if turn != running or [waiting.id for waiting in state.queue] != queued:
        raise Broken(f"{session} has {turn} {state.queue} and the store has {running} {queued}")
    waits_for_nothing = queued and not (running or state.held or state.set_aside or state.external)
    if waits_for_nothing:
        raise Broken(f"{session} has {queued} to do and does nothing")


def _message_agrees(world: "World", row: Row, stored: Stored) -> None:
    told = _read(world, "wait", session=row["session"], message_id=row["id"], wait_seconds=0)
    expected = "running" if row["status"] == "handed" else row["status"]
    turn = row["steered_into"] or row["id"]
    if any((card["message"], card["status"]) == (turn, "pending") for card in stored.cards):
        expected = "waiting_for_answer"
    of_it = [task for task in stored.tasks if (task["message"], task["status"]) == (turn, "running")]
    if told.get("background") and of_it:
        expected = "running"  # it has answered, and what it left behind goes on
    if told["status"] != expected:
        raise Broken(f"wait tells of {row['id']}: {told['status']}, and it is {row['status']}")


def _workers_agree(world: "World", stored: Stored) -> None:
    """What the store has with a worker is what the worker works on."""
    handed = {
        row["id"] for row in stored.prompts if row["status"] == "handed" and row["steered_into"] is None
    }
    working = set(world.life.port.worker.open)
    if handed != working:
        raise Broken(f"with a worker are {sorted(handed)}, and it works on {sorted(working)}")
    worker = world.life.port.worker
    waiting = {card.card for card in worker.cards.open.values() if not worker.open[card.turn].stopping}
    shown = [row for row in stored.cards if row["status"] == "pending"]
    cards = {row["worker_card"] for row in shown if row["kind"] != "approval"}
    if cards != waiting:
        raise Broken(f"shown are the cards {sorted(cards)}, and agents wait on {sorted(waiting)}")
    tasks = {row["worker_task"] for row in stored.tasks if row["status"] == "running"}
    if tasks != world.life.port.worker.tasks.running.keys():
        raise Broken(f"tasks {sorted(tasks)} run, and at the worker {world.life.port.worker.tasks.running}")
    kept = {
        task.name: task.tail.text
        for session in world.life.session_actors().values()
        for task in session._background._tasks._by_name.values()
    }
    if kept != world.life.port.worker.tasks.written:
        raise Broken(f"of tasks is kept {kept}, and they wrote {world.life.port.worker.tasks.written}")


def _nobody_waits_in_vain(world: "World", stored: Stored) -> None:
    """Who waits for a message's end has its answer when that is there."""
    ended = {row["id"]: row for row in stored.prompts if row["ended_at"] is not None}
    texts = {row["text"] for row in ended.values() if row["text"]}
    turns = {row["message"] for row in stored.cards if row["status"] == "pending"}
    on_cards = {row["id"] for row in stored.prompts if (row["steered_into"] or row["id"]) in turns}
    for calling in world.callers.under_way:
        if calling.arguments.get("message_id") in on_cards:
            raise Broken(f"call {calling.number} {calling.arguments} waits, and its turn waits on a card")
        if calling.text in texts or calling.arguments.get("message_id") in ended:
            raise Broken(f"call {calling.number} {calling.arguments} waits for what is over")
