"""Completing command lines: what a shell asks of the program by a variable of the environment."""

import os
from typing import Final

import click
from click.shell_completion import get_completion_class, shell_complete

PROGRAM: Final = "showcaller"
VARIABLE: Final = "_SHOWCALLER_COMPLETE"


def script_for(group: click.Command, shell: str) -> str:
    """Give the script that makes a shell ask the program."""
    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(f"click completes nothing in {shell}")
    return kind(group, {}, PROGRAM, VARIABLE).source()


def answer_shell(group: click.Command) -> int | None:
    """Answer a shell that asks how a line goes on, and give the exit code; None when none asks."""
    asked = os.environ.get(VARIABLE)
    return shell_complete(group, {}, PROGRAM, VARIABLE, asked) if asked else None
