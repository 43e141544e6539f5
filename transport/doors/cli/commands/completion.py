"""``showcaller completion``: what makes a shell complete commands and options."""

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.shell_completion import script_for

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=Command,
    help="""Write the script that lets a shell complete commands.

\b
Examples:
  showcaller completion bash >> ~/.bashrc
  showcaller completion zsh >> ~/.zshrc
  showcaller completion fish > ~/.config/fish/completions/showcaller.fish
""",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--json", "as_json", is_flag=True, help='Write {"shell": ..., "script": ...}.')
@home_option
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> int:
    """Write the script and give the exit code."""
    script = script_for(ctx.find_root().command, shell)
    write(json_line({"shell": shell, "script": script}) if as_json else script)
    return GOOD
