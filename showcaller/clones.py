"""Where the sessions' clones are in a data folder, and what becomes of one whose session is put away."""

import threading
from collections.abc import Callable
from pathlib import Path

import structlog

from showcaller.transport.worker import clone_folder

log = structlog.stdlib.get_logger("showcaller.clones")


class Clones:
    """The clones of one data folder. Thread-safe.

    No program is run in a clone: what its agent has configured there would run as the relay, beyond every
    worker's processes, and so pass for the owner.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home.absolute() / clone_folder.FOLDER

    def folder(self, session: str) -> str:
        """Give the folder of a session's clone, whether it is there or not."""
        return str(self._folder / session)

    def left(self, session: str, done: Callable[[str | None], None], *, deletes: bool) -> None:
        """Say what a session has left in its clone; with ``deletes`` it goes where all of it is pushed."""

        def work() -> None:
            done(_left(Path(self.folder(session)), deletes=deletes))

        threading.Thread(target=work, name="showcaller-clone", daemon=True).start()


def _left(folder: Path, *, deletes: bool) -> str | None:
    try:
        if clone_folder.is_there(clone_folder.unfinished(folder)):
            clone_folder.remove(clone_folder.unfinished(folder))
        if not clone_folder.is_there(folder):
            return None
        state = clone_folder.kept_state(folder)
        if not state.pushed:
            known = f"Not pushed: {state.told}" if state.pushed is False else f"Beware: {state.told}"
            return f"{known}. The clone stays in {folder}; delete it yourself when nothing in it is needed."
        if not deletes:
            return f"All of its work is pushed. The clone stays in {folder}."
        if not clone_folder.is_as_seen(folder):
            told = "Beware: its clone was changed after its last turn, so what is not pushed is not known"
            return f"{told}. The clone stays in {folder}; delete it yourself when nothing in it is needed."
        clone_folder.remove(folder)
        clone_folder.forget_state(folder)
    except OSError as error:
        log.warning("a clone is not as it should be", folder=str(folder), error=str(error))
        return f"The clone in {folder} could not be put away: {error}."
    return "All of its work was pushed, and its clone is deleted."
