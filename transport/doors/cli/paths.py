"""Paths as people type them: an empty one, as a variable that is not set makes it, names nothing."""

from pathlib import Path
from typing import Any

import click


class NamedPath(click.Path):
    """A path that is not empty; gives a ``Path``."""

    def __init__(self, what: str) -> None:
        """``what`` is ``file`` or ``folder``; one that is there already must be that."""
        super().__init__(file_okay=what == "file", dir_okay=what == "folder", path_type=Path)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path, or fail as a usage error."""
        if not str(value).strip():
            self.fail(f"it names no {self._what}: it is empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = NamedPath("file")
FOLDER = NamedPath("folder")
