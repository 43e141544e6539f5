"""Cursors of paged lists, as callers carry them: opaque text that only we read back, for the same list."""

import base64
import binascii
import json
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, Final, NamedTuple

from showcaller.actors.contract.errors import invalid

_MARK_BYTES: Final = 8


class PagedList(NamedTuple):
    """A list that is given page by page: whose it is, of which kind, narrowed by what, and its places."""

    relay: str
    kind: str
    narrowed: tuple[str, ...]
    shape: tuple[type, ...]

    def write(self, place: list[Any]) -> str:
        """Make the text of a place in this list."""
        written = json.dumps(place, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._mark(written) + written).decode().rstrip("=")

    def read(self, text: str) -> list[Any]:
        """Read a place back; raises ``Refusal`` for text that ``write`` did not give for this very list."""
        place = self._place(text)
        if place is None:
            raise invalid(
                "This cursor is not one that this relay gave for this list: start again without it."
            )
        return place

    def _place(self, text: str) -> list[Any] | None:
        try:
            whole = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            written = whole[_MARK_BYTES:]
            if not compare_digest(whole[:_MARK_BYTES], self._mark(written)):
                return None
            place = json.loads(written)
        except (ValueError, binascii.Error):
            return None
        fits = [type(part) for part in place] == list(self.shape) and all(map(_storable, place))
        # Base64 can be spelled in several ways; only ours was given.
        return place if fits and self.write(place) == text else None

    def _mark(self, written: bytes) -> bytes:
        """Bind a place to its list, so that one of another list, or one that was made up, is known."""
        bound = json.dumps([self.relay, self.kind, *self.narrowed]).encode()
        return blake2b(written, key=blake2b(bound, digest_size=32).digest(), digest_size=_MARK_BYTES).digest()


def _storable(part: Any) -> bool:
    """Tell whether the store can look for it: whole numbers of 64 bits, and text that has a UTF-8 form."""
    if isinstance(part, int):
        return -(2**63) <= part < 2**63
    return not isinstance(part, str) or part.isascii()
