"""Looking at everything that a relay of a data folder needs."""

import os
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.settings import UNSAFE
from showcaller.transport.doors.cli.doctor.findings import (
    Finding,
    descriptors_finding,
    disk_finding,
    folder_finding,
    left_findings,
    providers_finding,
    python_finding,
    socket_finding,
    versions_findings,
)
from showcaller.transport.doors.cli.exits import CommandError
from showcaller.transport.doors.cli.left_workers import ways_out
from showcaller.transport.doors.cli.opening import opened
from showcaller.transport.doors.cli.output import note
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.holder import holder, in_use
from showcaller.transport.doors.http.token import read_token
from showcaller.transport.doors.http.whereabouts import Whereabouts, running_relay
from showcaller.transport.doors.start_error import RelayStartError


def examine(door: Door) -> Iterator[Finding]:
    """Give what was found of each thing, in an order in which it is mended best."""
    yield python_finding(sys.version_info[:3])
    yield descriptors_finding(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield _folder(door.home)
    yield disk_finding(door.home, shutil.disk_usage(_nearest(door.home)).free)
    yield socket_finding(door.home)
    yield _token(door.home)
    running = running_relay(door.home)
    found = list(_none_runs(door) if running is None else _running(door, running))
    yield from found
    if running is None or found[0].state == "good":  # one that hangs would tell nothing of its store
        yield from _store(door)


def _folder(home: Path) -> Finding:
    try:
        found = home.stat()
    except FileNotFoundError:
        found = None
    except OSError as error:
        return Finding("data folder", "mend", f"{home}: {error.strerror}", "Name another one.")
    return folder_finding(home, found, os.getuid(), may_use=os.access(home, os.R_OK | os.W_OK | os.X_OK))


def _nearest(home: Path) -> Path:
    """Give the folder, or the nearest above it that is there."""
    return next(path for path in (home, *home.parents) if path.is_dir())


def _token(home: Path) -> Finding:
    try:
        read_token(home)
    except FileNotFoundError:
        return Finding("token", "good", "none yet; showcaller serve makes one")
    except RelayStartError as error:
        return Finding("token", "mend", error.message, error.way_out)
    return Finding("token", "good", "for its owner alone")


def _none_runs(door: Door) -> Iterator[Finding]:
    held = holder(door.home)
    if held is not None:
        yield Finding("relay", "note", in_use(door.home, held))
    else:
        yield Finding("relay", "note", "none runs", f"To start one: {door.command_line('serve')}")
        yield from left_findings(door.find_workers(door.home), ways_out(door))


def _running(door: Door, running: Whereabouts) -> Iterator[Finding]:
    from showcaller.transport.doors.http.channel import ANSWER_SECONDS, Channel, RelayGone

    told = f"process {running.pid}, {running.address}"
    try:
        channel = Channel(door.home, running, note)
    except RelayStartError as error:
        yield Finding("relay", "mend", error.message, error.way_out)
        return
    try:
        status = channel.asked("GET", "/api/status", seconds=ANSWER_SECONDS)
    except (RelayGone, Refusal) as error:
        yield Finding("relay", "mend", f"{told}: {error}", f"If it stays so: kill {running.pid}")
        return
    finally:
        channel.close()
    yield Finding("relay", "good", told)
    yield from versions_findings(status, door.version, door.command_line("stop", "--workers"))


def _store(door: Door) -> Iterator[Finding]:
    if door.is_empty:
        yield Finding("store", "good", "none yet")
        return
    try:
        with opened(door, read_only=True) as relay:
            listed = relay.call({"action": "list_sessions", "relay": "this", "scope": "all", "limit": 1})
            if not listed.get("ok"):
                yield Finding(
                    "store", "mend", str(listed.get("error")), "Put a backup back: showcaller restore"
                )
                return
            yield Finding("store", "good", "can be read")
            yield providers_finding(relay.providers())
            if relay.settings().unsafe_no_cards:
                way_out = door.command_line("settings", "set", "unsafe_no_cards", "off")
                yield Finding("consent", "warn", UNSAFE, f"To ask again: {way_out}")
    except (CommandError, Refusal) as error:
        yield Finding("store", "mend", str(error), getattr(error, "way_out", None))
