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
    """Give the resolved data folder: as named, else ``SHOWCALLER_HOME``, else the platform's own place.

    Raises ``click.UsageError`` for a name that cannot be a folder's.
    """
    if named == "":
        raise click.UsageError("--home names no folder: it is empty. Name one, or leave the option out.")
    chosen = named or os.environ.get("SHOWCALLER_HOME")
    if chosen:
        return _resolved(chosen)
    from platformdirs import user_data_path

    return user_data_path("showcaller", appauthor=False).resolve()


def _resolved(chosen: str) -> Path:
    try:
        path = Path(chosen).expanduser()
    except RuntimeError as error:
        owner = Path(chosen).parts[0]
        raise click.UsageError(
            f"The data folder {chosen!r} cannot be found: there is no home folder for {owner!r}."
        ) from error
    try:
        return path.resolve()
    except FileNotFoundError as error:
        raise click.UsageError(
            f"The data folder {chosen!r} cannot be found: the present folder is gone. "
            "Change to one that exists, or name the data folder by its whole path."
        ) from error
    except (OSError, RuntimeError) as error:
        raise click.UsageError(f"The data folder {chosen!r} cannot be found: {error}.") from error


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
