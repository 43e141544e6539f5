"""``showcaller mcp``: the bridge that an MCP client starts, between its standard streams and the relay."""

import click

from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.stdio.program import run_bridge


@click.command(
    "mcp",
    cls=Command,
    help="""Be the MCP server that a client starts.

Messages come on standard input, and answers go to standard output. The relay
has to run: showcaller serve. A relay that ends and comes back within a minute
is used again, and what waits goes on waiting. In the environment of an agent
that the relay has started, the calls are that agent's; any other client has a
conversation of its own, which is kept under its name.

\b
Examples:
  claude mcp add showcaller -- showcaller mcp
  showcaller mcp --name nightly-script
""",
)
@click.option("--name", metavar="NAME", help="The client's name; else what it calls itself.")
@click.option("--json", "as_json", is_flag=True, help="Nothing else is ever written; for habit.")
@home_option
@click.pass_obj
def command(door: Door, name: str | None, as_json: bool) -> int:
    """Be the bridge and give the exit code."""
    del as_json
    return run_bridge(door.home, name)
