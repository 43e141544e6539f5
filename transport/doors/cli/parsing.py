"""Commands whose own texts, the help and the version, can fail to be written, and that know who is asking."""

import os
import sys
from typing import Any

import click

from showcaller.transport.doors.cli.agents_environment import check_owner
from showcaller.transport.doors.cli.exits import GOOD, OutputLost
from showcaller.transport.doors.cli.output import forget


class Command(click.Command):
    """A command that tells when its help could not be written, and that refuses agents what is not theirs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; click writes the help meanwhile. Raises ``OutputLost``."""
        try:
            return super().parse_args(ctx, args)
        except OSError as error:
            forget(sys.stdout)
            raise OutputLost(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Carry it out; raises ``CommandError`` where it is the owner's and an agent has called it."""
        if ctx.parent is not None and ctx.parent.parent is None:
            check_owner(str(ctx.info_name), os.environ)
        return super().invoke(ctx)


class Group(Command, click.Group):
    """A group of which the same holds."""


def hand_on(ctx: click.Context, *, as_json: bool) -> int:
    """Leave it to the command that was named below a group.

    Raises ``click.UsageError`` for the group's own ``--json``, which that command would not see.
    """
    if as_json:
        raise click.UsageError(
            f"--json goes behind: {ctx.command_path} {ctx.invoked_subcommand} ... --json", ctx
        )
    return GOOD
