"""Running git for a worker: nothing of a repository runs, nobody is asked, and two protocols are spoken."""

import asyncio
import signal
import subprocess
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final, NamedTuple

from showcaller.transport.worker.descendants import TURNS_VARIABLE, turns_around
from showcaller.transport.worker.environment import inherited
from showcaller.transport.worker.output import DRAIN, CommandOutput, Pipe
from showcaller.transport.worker.process import Child

KEPT: Final = r"^(credential|http)\.|^core\.sshcommand$"
"""What is kept of the owner's own configuration: how to sign in, and the way through the network."""
MOST_KEPT: Final = 200
OURS: Final = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.askPass", ""),
    ("credential.interactive", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("http.followRedirects", "false"),  # else an allowed host could lead to one that is not
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "60"),
    ("submodule.recurse", "false"),
    ("transfer.bundleURI", "false"),
)
_OWN_REDIRECTS: Final = ".followredirects"
_HEAD, _TAIL = 512 * 1024, 16 * 1024


class NoGitError(Exception):
    """There is no program git that could be started."""


class EndedError(Exception):
    """Git was ended because of what watched it; the text says why."""


class Ran(NamedTuple):
    """How git has ended: with this status, having written this; ``is_cut``: it has written more."""

    status: int | None
    text: str
    is_cut: bool = False


def git_environment(around: Mapping[str, str], kept: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Give the environment in which git runs, with what is ``kept`` of the owner's configuration. Pure.

    Neither the owner's configuration nor the system's holds beside that: it could name filters, hooks,
    templates and other hosts. The owner's own GIT_SSH_COMMAND stays.
    """
    told = {name: value for name, value in inherited(around).items() if not _leads_astray(name)}
    settings = [(name, value) for name, value in kept if not name.lower().endswith(_OWN_REDIRECTS)]
    told |= {name: around[name] for name in (TURNS_VARIABLE,) if name in around}
    told |= {
        "GIT_ALLOW_PROTOCOL": "https:ssh",
        "GIT_ASKPASS": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "LC_ALL": "C",
    }
    for number, (name, value) in enumerate([*settings[:MOST_KEPT], *OURS]):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        told["GIT_CONFIG_COUNT"] = str(number + 1)
    return told


def owners_environment(around: Mapping[str, str]) -> dict[str, str]:
    """Give the environment in which git reads the owner's own configuration. Pure."""
    return {name: value for name, value in inherited(around).items() if not _leads_astray(name)}


def settings_in(text: str) -> list[tuple[str, str]]:
    """Take apart what ``git config --null`` wrote. Pure."""
    entries = (entry.partition("\n") for entry in text.split("\0") if entry)
    return [(name, value) for name, _, value in entries]


async def run_git(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    leaders: set[int],
    watch: Coroutine[Any, Any, str],
    *,
    cwd: str = "/",
    with_errors: bool = True,
) -> Ran:
    """Run git with these arguments until it has ended, or ``watch`` gives a reason to end it with its tree.

    Raises NoGitError, and EndedError with that reason.
    """
    marker = f"git_{token_hex(6)}"
    turns = {TURNS_VARIABLE: turns_around(environment, marker)}
    errors = subprocess.STDOUT if with_errors else subprocess.DEVNULL
    watching: asyncio.Future[Any] = asyncio.get_running_loop().create_task(watch)
    try:
        child = Child(["git", *arguments], cwd, {**environment, **turns}, marker, leaders, errors=errors)
    except (OSError, ValueError) as error:
        watching.cancel()
        await asyncio.wait([watching])
        raise NoGitError(f"git could not be started: {error}") from error
    output = CommandOutput(lambda _: None, _HEAD, _TAIL)
    pipe = Pipe(child.output, output)
    try:
        await asyncio.wait([child.exited, watching], return_when=asyncio.FIRST_COMPLETED)
        reason = None if child.exited.done() else watching.result()
    finally:
        watching.cancel()
        child.signal_tree(signal.SIGKILL)
        await asyncio.wait([child.exited, watching])
        await asyncio.wait([pipe.ended], timeout=DRAIN)
        pipe.close()
        status = child.reap()
    if reason is not None:
        raise EndedError(reason)
    text, is_cut = output.reply()
    return Ran(status, text, is_cut)


def _leads_astray(name: str) -> bool:
    """Tell whether a variable would have git use another repository, ask somebody, or run what it names."""
    return (name.startswith("GIT_") and name not in {"GIT_SSH_COMMAND", "GIT_SSH"}) or name == "SSH_ASKPASS"
