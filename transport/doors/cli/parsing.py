"""Commands whose own texts, the help and the version, can fail to be written."""

import sys

import click

from showcaller.transport.doors.cli.exits import OutputLost
from showcaller.transport.doors.cli.output import forget


class Command(click.Command):
    """A command that tells when its help could not be written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; click writes the help meanwhile. Raises ``OutputLost``."""
        try:
            return super().parse_args(ctx, args)
        except OSError as error:
            forget(sys.stdout)
            raise OutputLost(error) from error


class Group(Command, click.Group):
    """A group of which the same holds."""
