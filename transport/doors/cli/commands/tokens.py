"""``showcaller tokens``: list the tokens of a running relay, make one, revoke one."""

import shlex
from collections.abc import Mapping
from typing import Any

import click

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.cli.client_names import CLIENT_NAME
from showcaller.transport.doors.cli.exits import GOOD, CommandError
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import coloured, json_line, note, terminal_width, write
from showcaller.transport.doors.cli.parsing import Command, Group, hand_on
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running, check_running
from showcaller.transport.doors.cli.table import Column, table_lines
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.doors.token_making import FOLDER, TokenInMaking, alone, keep_token

COLUMNS = (
    Column("NAME", cut="end"),
    Column("KIND"),
    Column("SESSION"),
    Column("STATE", colour={"in force": "green"}.get),
    Column("MADE"),
    Column("USED"),
)
STATES = {
    "in_force": "in force",
    "revoked": "revoked",
    "archived": "conversation archived",
    "deleted": "conversation deleted",
}
KINDS = click.Choice(["external", "supervisor"])


@click.group(
    "tokens",
    cls=Group,
    invoke_without_command=True,
    help="""List the tokens of the running relay, make or revoke one.

An external token is for a client that the relay has not started: it has a
conversation of its own. A supervisor's may also watch all sessions. Only a
token in force lets anybody in: not one that was revoked, and not one whose
conversation was archived or deleted.

\b
Examples:
  showcaller tokens
  showcaller tokens new --name my-script
  showcaller tokens revoke my-script
""",
)
@click.option("--json", "as_json", is_flag=True, help='Write {"tokens": [...]} instead of a table.')
@home_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """List tokens and give the exit code."""
    if ctx.invoked_subcommand is not None:
        return hand_on(ctx, as_json=as_json)
    door = ctx.find_object(Door)
    assert door is not None
    tokens = ask_running(door, "GET", "/api/tokens")["tokens"]
    if as_json:
        write(json_line({"tokens": tokens}))
        return GOOD
    rows = [
        (
            visible(str(token["name"])),
            str(token["kind"]),
            str(token.get("session", "")),
            _state(token),
            *(local_time(token[at]) if at in token else "" for at in ("createdAt", "usedAt")),
        )
        for token in tokens
    ]
    if not rows:
        note(f"There are none. To make one: {door.command_line('tokens', 'new', '--name', 'NAME')}")
        return GOOD
    for line in table_lines(COLUMNS, rows, terminal_width(), coloured=coloured()):
        write(line)
    return GOOD


def _state(token: Mapping[str, Any]) -> str:
    since = f" {local_time(token['revokedAt'])}" if "revokedAt" in token else ""
    return STATES.get(str(token["state"]), visible(str(token["state"]))) + since


@command.command(
    "new",
    cls=Command,
    help="""Make a token and write it, this once: only a hash of it is kept.

A token of the same kind and name that is in force is replaced only with
--replace: it lets nobody in any more then. The conversation of an external one
stays the same. With --keep it is kept for showcaller call and mcp with that
--name, and not written: so a client whose token was revoked is let in again.

Where it was cut off before it had written the token, the same command again writes that one.

\b
Examples:
  showcaller tokens new --name my-script
  showcaller tokens new --kind supervisor --name night-watch --json
  showcaller tokens new --name my-script --replace
  showcaller tokens new --name claude-code --keep
""",
)
@click.option("--kind", type=KINDS, default="external", show_default=True, help="Whom it is for.")
@click.option(
    "--name",
    type=CLIENT_NAME,
    metavar="NAME",
    required=True,
    help="What it is called, and the conversation with it.",
)
@click.option("--replace", is_flag=True, help="Have the one of that kind and name let nobody in any more.")
@click.option("--keep", is_flag=True, help="Keep it for call and mcp with --name NAME, and do not write it.")
@click.option("--json", "as_json", is_flag=True, help='Write {"token": ..., "session": ...}.')
@home_option
@click.pass_obj
def new(door: Door, kind: str, name: str, replace: bool, keep: bool, as_json: bool) -> int:
    """Make a token and give the exit code."""
    if keep and kind != "external":
        raise click.UsageError("--keep is for external tokens: call and mcp come in with no others.")
    check_running(door)
    try:
        with alone(door.home):
            making = TokenInMaking(door.home, kind, name)
            made = _made(door, making, {"kind": kind, "name": name, "replace": replace}, keep=keep)
            told = {field: value for field, value in made.items() if field != "ok"}
            if keep:
                keep_token(door.home / FOLDER / name, making.token)
                told = {"kept": str(door.home / FOLDER / name)} | told
            if as_json:
                write(json_line(told if keep else {"token": making.token} | told))
            elif not keep:
                write(making.token)
            making.done()
    except RelayStartError as error:
        raise CommandError(error.message, error.way_out) from error
    if keep and not as_json:
        note(f"Kept for showcaller call and mcp with --name {shlex.quote(name)}.")
    elif not as_json and "session" in made:
        note(f"It speaks for the conversation {made['session']}. It is not shown again.")
    return GOOD


def _made(door: Door, making: TokenInMaking, wanted: Mapping[str, Any], *, keep: bool) -> Mapping[str, Any]:
    while True:
        try:
            return ask_running(door, "POST", "/api/tokens", {**wanted, "hash": making.hash})
        except CommandError as error:
            if _is_refused(error) and making.refused():
                continue
            if error.further.get("replaceable"):
                named = ("--kind", str(wanted["kind"]), "--name", str(wanted["name"]), "--replace")
                again = door.command_line("tokens", "new", *named, *(["--keep"] if keep else []))
                error.way_out = f"To replace it: {again}"
            raise


def _is_refused(error: CommandError) -> bool:
    return isinstance(error.__cause__, Refusal) and error.__cause__.code is Code.INVALID_INPUT


@command.command(
    "revoke",
    cls=Command,
    help="""Have a token let nobody in any more.

A client that comes in with showcaller call or mcp by the --name of an external
one is refused until you make it another: showcaller tokens new --name NAME --keep.

\b
Examples:
  showcaller tokens revoke my-script
  showcaller tokens revoke night-watch --kind supervisor
""",
)
@click.argument("name")
@click.option("--kind", type=KINDS, help="Needed where both kinds have the name.")
@click.option("--json", "as_json", is_flag=True, help='Write {"kind": ..., "name": ..., "session": ...}.')
@home_option
@click.pass_obj
def revoke(door: Door, name: str, kind: str | None, as_json: bool) -> int:
    """Revoke a token and give the exit code."""
    revoked = ask_running(door, "POST", "/api/tokens/revoke", {"name": name, "kind": kind})
    if as_json:
        write(json_line({field: value for field, value in revoked.items() if field != "ok"}))
    else:
        note(f"The {revoked['kind']} token {visible(name)} lets nobody in any more.")
        if revoked["kind"] == "external":
            again = door.command_line("tokens", "new", "--name", str(revoked["name"]), "--keep")
            note(f"To let the client of that name in again: {again}")
            allowed = door.command_line("approvals", "revoke", str(revoked["session"]))
            note(
                f"Its conversation {revoked['session']} stays, with the sessions that it started and what "
                f"was allowed in it. To have that stand no more: {allowed}"
            )
    return GOOD
