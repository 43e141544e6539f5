"""How a relay says that it cannot be opened."""


class RelayStartError(Exception):
    """A relay could not be opened: ``message`` says what and which file, ``way_out`` what to do about it."""

    def __init__(self, message: str, way_out: str) -> None:
        super().__init__(f"{message} {way_out}".rstrip())
        self.message = message
        self.way_out = way_out


class FolderInUse(RelayStartError):
    """Another relay holds the data folder."""
