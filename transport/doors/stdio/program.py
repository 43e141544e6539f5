"""``showcaller mcp`` before anything else of the program is loaded: there is one for each agent."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from showcaller.transport.doors.agents_tree import is_below_a_worker

TOKEN: Final = "SHOWCALLER_TOKEN"  # noqa: S105 - where it stands, not the token
HOME: Final = "SHOWCALLER_HOME"


class BridgeWords(NamedTuple):
    """What the command line of a bridge says."""

    home: str | None
    name: str | None


def bridge_words(words: Sequence[str]) -> BridgeWords | None:
    """Read a command line that is a bridge's and nothing else.

    None for all others, its help and its mistakes included, which are the whole program's to tell. Pure.
    """
    found: dict[str, str] = {}
    command = False
    left = list(words)
    while left:
        word = left.pop(0)
        option, equals, value = word.partition("=")
        if word == "mcp" and not command:
            command = True
        elif option == "--home" or (option == "--name" and command):
            if not equals and not left:
                return None
            found[option] = value if equals else left.pop(0)
        elif word == "--json" and command:
            pass  # nothing but JSON is ever written
        else:
            return None
    if not command or "" in found.values():
        return None
    return BridgeWords(found.get("--home"), found.get("--name"))


def bridge_of(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Path, str | None] | None:
    """Give the data folder and the client's name of a right command line of a bridge's; None for others.

    None too inside of an agent's session without its token: the whole program refuses that.
    """
    told = bridge_words(words)
    if told is None or (not environment.get(TOKEN) and is_below_a_worker(environment)):
        return None
    try:
        return home_folder(told.home, environment), told.name
    except (OSError, RuntimeError):  # no such folder can be: the whole program says why
        return None


def home_folder(named: str | None, environment: Mapping[str, str]) -> Path:
    """Give the data folder, as the whole program does: named, in ``SHOWCALLER_HOME``, or its own place."""
    chosen = named or environment.get(HOME)
    if chosen:
        return Path(chosen).expanduser().resolve()
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/showcaller").expanduser().resolve()
    data = environment.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    return (Path(data).expanduser() / "showcaller").resolve()


def run_bridge(home: Path, name: str | None) -> int:
    """Be the bridge between this process's standard streams and the relay, until the client goes."""
    from showcaller.transport.doors.stdio.bridge import Bridge
    from showcaller.transport.doors.stdio.caller import BridgeCaller
    from showcaller.transport.doors.stdio.carrying import Carrier
    from showcaller.transport.doors.stdio.output import Output

    output = Output(sys.stdout.buffer)
    caller = BridgeCaller(home, name, os.environ.get(TOKEN) or None)
    Bridge(Carrier(caller, output.write, monotonic), output, monotonic).run(sys.stdin.buffer)
    return 0
