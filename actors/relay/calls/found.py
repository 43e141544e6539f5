"""What the checks of a call have found, for its card and for its act."""

from typing import Final, NamedTuple

from showcaller.actors.relay.calls.context import Row
from showcaller.actors.relay.calls.session_settings import Sending, Start
from showcaller.actors.relay.calls.session_updates import Update

_NONE: Final[Row] = {}


class Found(NamedTuple):
    """What the checks have found, for the act: the session named, and with what one runs.

    ``watched`` are the sessions that a subscription names, and ``left_out`` those that it excludes.
    ``card`` is the one that is answered. ``first``: the write was carried out before under the same name, and
    is not carried out again.
    """

    session: str = ""
    row: Row = _NONE
    start: Start | None = None
    sending: Sending | None = None
    update: Update | None = None
    card: Row = _NONE
    first: Row | None = None
    watched: tuple[Row, ...] = ()
    left_out: tuple[Row, ...] = ()
