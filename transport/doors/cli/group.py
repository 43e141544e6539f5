"""The group ``showcaller``: its own options, its commands by name, and what their ends mean to the shell."""

import importlib
import io
import sys
from collections.abc import Sequence

import click

from showcaller.transport.doors.cli.exits import EXIT_HELP, FAILED, OutputLost
from showcaller.transport.doors.cli.failures import failed, interrupted, wants_json
from showcaller.transport.doors.cli.faults import came_of_interrupt, told
from showcaller.transport.doors.cli.first_steps import tell_first_steps
from showcaller.transport.doors.cli.home import data_folder
from showcaller.transport.doors.cli.output import RESULTS, have_standard_streams, note
from showcaller.transport.doors.cli.parsing import Group
from showcaller.transport.doors.cli.program import program_words
from showcaller.transport.doors.cli.relay import (
    CheckAgent,
    Door,
    EndWorkers,
    FindWorkers,
    OpenRelay,
    RestoreStore,
    ServeRelay,
    checks_nothing,
    ends_nothing,
    finds_none,
    restores_nothing,
    serves_nothing,
)
from showcaller.transport.doors.cli.shell_completion import answer_shell

COMMANDS = (
    "fanout",
    "fanouts",
    "new",
    "send",
    "sessions",
    "groups",
    "show",
    "wait",
    "monitor",
    "events",
    "subscriptions",
    "inbox",
    "answer",
    "approvals",
    "unlock",
    "update",
    "stop-turn",
    "go-on",
    "restart",
    "kill",
    "archive",
    "delete",
    "export",
    "providers",
    "settings",
    "serve",
    "status",
    "stop",
    "doctor",
    "open",
    "tokens",
    "call",
    "backup",
    "restore",
    "mcp",
    "completion",
)

NEED_A_RELAY = frozenset(
    {
        "wait",
        "inbox",
        "answer",
        "approvals",
        "groups",
        "unlock",
        "go-on",
        "restart",
        "open",
        "tokens",
        "call",
        "mcp",
    }
)
"""Those that need a relay that runs; the others open the data folder themselves where none does."""
NEED_A_RELAY_WITH = {"new": "--no-wait", "send": "--no-wait", "monitor": "--follow", "events": "--follow"}
"""Those that need one with an option, and which."""

HELP = f"""Run many sessions at once, and see what became of them.

\b
Examples:
  showcaller fanout 'wc -l {{}}' docs/*.md
  showcaller new 'make test'
  showcaller sessions
  showcaller show 3f9c2a1e
  showcaller serve

Everything is kept in one data folder: --home, else SHOWCALLER_HOME, else
~/.local/share/showcaller (macOS: ~/Library/Application Support/showcaller).
To delete it is to forget everything.

{EXIT_HELP}
"""


class Commands(Group):
    """A group that loads the module of a command when that command is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names of all commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give the command of that name, None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(
            f"showcaller.transport.doors.cli.commands.{cmd_name.replace('-', '_')}"
        )
        command = module.command
        assert isinstance(command, click.Command)
        return command


def build_group(
    open_relay: OpenRelay,
    version: str,
    serve: ServeRelay = serves_nothing,
    end_workers: EndWorkers = ends_nothing,
    restore: RestoreStore = restores_nothing,
    check_agent: CheckAgent = checks_nothing,
    find_workers: FindWorkers = finds_none,
) -> click.Group:
    """Give the group whose commands open their relay with ``open_relay``, or run one with ``serve``."""

    @click.group(
        cls=Commands,
        help=HELP,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    @click.version_option(version, prog_name="showcaller")
    @click.option(
        "--home", metavar="FOLDER", type=click.Path(file_okay=False), help="The data folder to use."
    )
    @click.pass_context
    def showcaller(ctx: click.Context, home: str | None) -> None:
        program = program_words(sys.argv[0])
        at = data_folder(home)
        door = Door(
            at, home, open_relay, program, version, serve, end_workers, restore, check_agent, find_workers
        )
        ctx.obj = door
        if ctx.invoked_subcommand is None:
            ctx.exit(tell_first_steps(door))

    return showcaller


def run(
    arguments: Sequence[str],
    open_relay: OpenRelay,
    version: str,
    serve: ServeRelay = serves_nothing,
    end_workers: EndWorkers = ends_nothing,
    restore: RestoreStore = restores_nothing,
    check_agent: CheckAgent = checks_nothing,
    find_workers: FindWorkers = finds_none,
) -> int:
    """Carry out one command line and give its exit code; errors are told on standard error."""
    RESULTS.is_begun = False
    try:
        return _answered(
            arguments,
            build_group(open_relay, version, serve, end_workers, restore, check_agent, find_workers),
        )
    except KeyboardInterrupt as error:
        return interrupted(error, arguments, COMMANDS)


def _answered(arguments: Sequence[str], group: click.Group) -> int:
    have_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(group, arguments)
    except OutputLost as lost:
        if not lost.unread:
            note(f"Error: {lost}")
        return lost.code
    except Exception as error:  # whatever it is, a person gets a sentence and not our insides
        if came_of_interrupt(error):
            raise KeyboardInterrupt from error
        return _failed(told(error), arguments)


def _failed(error: click.ClickException, arguments: Sequence[str]) -> int:
    try:
        return failed(error, as_json=wants_json(arguments, COMMANDS))
    except OutputLost as lost:  # of what went wrong standard error tells
        return lost.code


def _run(group: click.Group, arguments: Sequence[str]) -> int:
    completed = answer_shell(group)
    if completed is not None:
        return completed
    # Not group.main(): it turns a closed pipe into exit code 1 and Ctrl-C into "Aborted!".
    try:
        with group.make_context("showcaller", list(arguments)) as ctx:
            ended = group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _failed(error, arguments)
    except click.Abort as abort:
        raise KeyboardInterrupt from abort
    return ended if isinstance(ended, int) else FAILED
