"""The files that a user's modules were imported from: whether they still are what they were."""

import os
import sys
from typing import Final

_GONE: Final = (0, 0)


class Sources:
    """The files in ``folder`` from which modules of this process were imported; none when it is None.

    Standard library alone, for a process of functions. Thread-safe.
    """

    def __init__(self, folder: str | None) -> None:
        self._below = None if folder is None else os.path.join(folder, "")  # noqa: PTH118 - with a slash at the end
        self._stamps: dict[str, tuple[int, int]] = {}

    def note(self) -> None:
        """Remember how the files of the modules are that are there now, for those that are new."""
        if self._below is None:
            return
        for module in list(sys.modules.values()):
            file = getattr(module, "__dict__", {}).get("__file__")
            if isinstance(file, str) and file.startswith(self._below):
                self._stamps.setdefault(file, _stamp(file))

    def have_changed(self) -> bool:
        """Tell whether one of them is another now, or gone."""
        return any(_stamp(file) != stamp for file, stamp in list(self._stamps.items()))


def _stamp(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)  # noqa: PTH116 - as light as it goes
    except OSError:
        return _GONE
    return status.st_mtime_ns, status.st_size
