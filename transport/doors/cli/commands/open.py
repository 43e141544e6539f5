"""``showcaller open``: a link that signs the owner's browser in."""

import os
import sys
import webbrowser
from collections.abc import Mapping

import click

from showcaller.transport.doors.cli.exits import GOOD
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, note, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running


@click.command(
    "open",
    cls=Command,
    help="""Sign your browser in to the running relay.

Writes a link that works once, within a minute, and follows it in your browser
where there is a display. --json and --no-browser only write it.

\b
Examples:
  showcaller open
  showcaller open --no-browser
""",
)
@click.option("--no-browser", is_flag=True, help="Only write the link.")
@click.option("--json", "as_json", is_flag=True, help='Write {"url": ..., "expiresAt": ...}.')
@home_option
@click.pass_obj
def command(door: Door, no_browser: bool, as_json: bool) -> int:
    """Write the link and give the exit code."""
    link = ask_running(door, "POST", "/api/sign-in-links")
    if as_json:
        write(json_line({"url": link["url"], "expiresAt": link["expiresAt"]}))
        return GOOD
    write(str(link["url"]))
    if not no_browser and has_display(os.environ, sys.platform) and not webbrowser.open(str(link["url"])):
        note("No browser could be opened: follow the link within a minute.")
    return GOOD


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """Tell whether a browser would have somewhere to show a page. Pure."""
    return platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
