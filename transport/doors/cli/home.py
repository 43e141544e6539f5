"""The data folder that a command line means, and the option that names it before or after the command."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from showcaller.transport.doors.cli.relay import Door

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


def data_folder(named: str | None) -> Path:
    """Give the resolved data folder: as named, else ``SHOWCALLER_HOME``, else the platform's own place."""
    chosen = named or os.environ.get("SHOWCALLER_HOME")
    if chosen:
        try:
            return Path(chosen).expanduser().resolve()
        except RuntimeError as error:
            raise click.UsageError(f"The data folder {chosen!r} cannot be: {error}.") from error
    from platformdirs import user_data_path

    return user_data_path("showcaller", appauthor=False).resolve()


def home_option(command: AnyCommand) -> AnyCommand:
    """Let a command take ``--home`` after its name too: it is its door's then, over one before the name."""
    return click.option(
        "--home",
        metavar="FOLDER",
        type=click.Path(file_okay=False),
        expose_value=False,
        callback=_use,
        help="The data folder to use.",
    )(command)


def _use(ctx: click.Context, parameter: click.Parameter, home: str | None) -> None:
    del parameter
    if home is not None and isinstance(ctx.obj, Door):
        ctx.obj = replace(ctx.obj, home=data_folder(home), named=home)
