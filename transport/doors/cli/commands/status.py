"""``showcaller status``: whether a relay runs on the data folder, where, and how it does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.settings import UNSAFE
from showcaller.transport.doors.cli.candidates import SHOWN
from showcaller.transport.doors.cli.exits import GOOD, NOT_FOUND, CommandError, no_relay, refused
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.left_workers import told_of, ways_out, workers_json
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door, LeftWorker
from showcaller.transport.doors.cli.session_lists import list_sessions
from showcaller.transport.doors.cli.states import state_word
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible
from showcaller.transport.doors.holder import holder, in_use, phase
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.worker.process_identity import ProcessIdentity


@click.command(
    "status",
    cls=Command,
    help="""Tell whether a relay runs on the folder, and how it does.

Ends with 0 when it answers, and with 3 when none runs, or one that listens to
nobody but the command or program which it is a part of. Where none runs it names
the workers that one has left, and what they go on with.

\b
Examples:
  showcaller status
  showcaller status --json
""",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@home_option
@click.pass_obj
def command(door: Door, as_json: bool) -> int:
    """Tell how the relay does and give the exit code."""
    running = running_relay(door.home)
    if running is None:
        return _none_listens(door, as_json=as_json)
    answer = _ask(door, running)
    warning = " ".join(_warnings(door, answer))
    if as_json:
        told = {name: value for name, value in answer.items() if name != "ok"}
        further = {"running": True, "installedVersion": door.version} | (
            {"warning": warning} if warning else {}
        )
        write(json_line(told | further))
        return GOOD
    for line in _lines(answer):
        write(line)
    if warning:
        note(warning)
    return GOOD


def _none_listens(door: Door, *, as_json: bool) -> int:
    held = holder(door.home)
    left = door.find_workers(door.home) if held is None else []
    if as_json:
        write(json_line({"running": False, "installedVersion": door.version} | _instead(door, held, left)))
    elif held is not None:
        note(in_use(door.home, held))
    elif left:
        note(f"No relay runs on {door.home}. {told_of(left)}.")
        for line in _going_on(door):
            note(line)
        note(ways_out(door))
    else:
        note(f"No relay runs on {door.home}. To start one: {door.command_line('serve')}")
    return NOT_FOUND


def _instead(door: Door, held: ProcessIdentity | None, left: Sequence[LeftWorker]) -> dict[str, Any]:
    """Give what there is where no relay listens: who holds the folder, and what a relay has left."""
    if held is None:
        return {"leftWorkers": workers_json(left)} if left else {}
    now = phase(door.home)
    return {"heldBy": held.pid} | ({} if now is None else {"phase": now})


def _going_on(door: Door) -> Iterator[str]:
    """Give a line for each session of which something goes on, as far as they can be read."""
    try:
        with opened(door, read_only=True) as relay:
            for session in list_sessions(relay, scope="active", query=None, limit=SHOWN).sessions:
                yield f"  {session['id']}  {state_word(session)}  {visible(str(session.get('title') or ''))}"
    except (CommandError, Refusal) as error:
        yield f"  Their sessions cannot be read: {error}"


def _ask(door: Door, running: Whereabouts) -> Mapping[str, Any]:
    from showcaller.transport.doors.http.channel import ANSWER_SECONDS, Channel, RelayGone

    try:
        channel = Channel(door.home, running, note)
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    try:
        return channel.asked("GET", "/api/status", seconds=ANSWER_SECONDS)
    except RelayGone as gone:
        raise no_relay(str(gone)) from gone
    except Refusal as refusal:
        raise refused(refusal.to_result()) from refusal
    finally:
        channel.close()


def _warnings(door: Door, answer: Mapping[str, Any]) -> Iterator[str]:
    """Say that nobody is asked, and of relay and workers that they run another version than is installed."""
    if answer.get("unsafeNoCards"):
        yield f"{UNSAFE}. To ask again: {door.command_line('settings', 'set', 'unsafe_no_cards', 'off')}"
    if (version := str(answer["version"])) != door.version:
        yield (
            f"The relay that runs is version {visible(version)}, and {door.version} is installed: "
            "stop it and start it again to use that."
        )
    for worker in answer.get("workers", ()):
        if (version := str(worker["version"])) not in {"", door.version}:
            process = "" if worker["pid"] is None else f" (process {worker['pid']})"
            yield (
                f"Worker {worker['name']}{process} is version {visible(version)}, and "
                f"{door.version} is installed: when it has nothing to do, "
                f"{door.command_line('stop', '--workers')} ends it, and the next start uses that."
            )


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    turns = answer["turns"]
    yield f"{visible(str(answer['relay']['name']))}  ({answer['relay']['id']})"
    yield f"address: {answer['address']}"
    yield f"process: {answer['pid']}, version {answer['version']}, since {local_time(answer['startedAt'])}"
    if folder := answer.get("defaultFolder"):
        yield f"folder of sessions that name none: {visible(str(folder))}"
    yield f"sessions awake: {answer['sessionsAwake']:,}"
    yield f"workers: {len(answer.get('workers', ()))}"
    yield f"turns: {turns['running']:,} running, {turns['queued']:,} waiting"
    if tasks := answer.get("tasks", {}).get("running"):
        yield f"in the background: {tasks:,} running"
    for fanout in answer["fanouts"]:
        yield (
            f"fan-out: {visible(str(fanout['name']))} ({fanout['group']}): {fanout['ended']:,} of "
            f"{fanout['items']:,} ended, {fanout['running']:,} running"
        )
