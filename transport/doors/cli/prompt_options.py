"""The options of the commands that send a prompt: the same words for the same things."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from showcaller.transport.doors.cli.durations import Duration

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])
MODES: Final = ("ask", "plan", "agent", "autopilot")

_OPTIONS: Final = (
    click.option("--model", metavar="MODEL", help="A model of the provider."),
    click.option(
        "--mode", type=click.Choice(MODES, case_sensitive=False), help="How freely the agent works."
    ),
    click.option("--effort", metavar="WORD", help="How hard the model thinks."),
    click.option("--wait", type=Duration(), help="How long to wait: 30s, 5m.  [default: to its end]"),
    click.option(
        "--no-wait", is_flag=True, help="Store the prompt and return at once; needs a relay that runs."
    ),
    click.option(
        "--id", "client_id", metavar="ID", help="Makes a repeat harmless: the same id is sent once."
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Write what became of the prompt as one JSON object."
    ),
)


def prompt_options(command: AnyCommand) -> AnyCommand:
    """Let a command take the options of a prompt: ``model``, ``mode``, ``effort``, ``wait``, ``no_wait``…"""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
