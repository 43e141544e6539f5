"""Signing in a browser: a link that works once, then a cookie, and for writes a word that only our page has.

Nothing of it is stored, and only hashes are kept, so a restart of the relay ends all of it.
"""

import hmac
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal

LINK_SECONDS: Final = 60.0
SIGNED_IN_SECONDS: Final = 30 * 86_400.0
MOST_LINKS: Final = 16
MOST_SIGNED_IN: Final = 64
WRONG_PER_MINUTE: Final = 10
READING: Final = frozenset({"GET", "HEAD"})


class Browser(NamedTuple):
    """A browser that has signed in: the word that its writes carry, and until when it is let in."""

    csrf: str
    until: float


class LinkUsed(Exception):
    """A link was used before, is too old, or was never made."""


class SignIns:
    """The links and the browsers of one relay. Used on one asyncio loop."""

    def __init__(self, now: Callable[[], float], port: int) -> None:
        """``now`` gives seconds of a steady clock; cookies know no ports, so their name has ours."""
        self._now = now
        self.cookie = f"showcaller_{port}"
        self._links: dict[bytes, float] = {}
        self._browsers: dict[bytes, Browser] = {}
        self._wrong: deque[float] = deque(maxlen=WRONG_PER_MINUTE)

    def new_code(self) -> str:
        """Make the code of a link, good once and for a minute; of many links the latest count."""
        code = token_urlsafe(32)
        if len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        self._links[_hash(code)] = self._now() + LINK_SECONDS
        return code

    def sign_in(self, code: str) -> str:
        """Use the code of a link, and give the value of the browser's cookie.

        Raises ``LinkUsed``, and ``Refusal`` after too many wrong codes; a right one is taken all the same.
        """
        until = self._links.pop(_hash(code), None)
        if until is None or until <= self._now():
            self._count_wrong()
            raise LinkUsed
        value = token_urlsafe(32)
        if len(self._browsers) >= MOST_SIGNED_IN:
            del self._browsers[next(iter(self._browsers))]
        self._browsers[_hash(value)] = Browser(token_urlsafe(32), self._now() + SIGNED_IN_SECONDS)
        return value

    def browser_of(self, cookies: str) -> Browser | None:
        """Give the browser whose cookies these are; None for one that has not signed in."""
        value = _cookie(cookies, self.cookie)
        if value is None:
            return None
        digest = _hash(value)
        browser = self._browsers.get(digest)
        if browser is not None and browser.until <= self._now():
            del self._browsers[digest]
            return None
        return browser

    def _count_wrong(self) -> None:
        now = self._now()
        if len(self._wrong) == WRONG_PER_MINUTE and (wait := self._wrong[0] + 60.0 - now) > 0:
            seconds = max(1, -int(-wait // 1))
            raise Refusal(
                Code.RATE_LIMITED,
                f"Too many links were tried that do not work: try again in {seconds} s.",
                retry_after_seconds=seconds,
            )
        self._wrong.append(now)


def check_write(browser: Browser, method: str, csrf: list[str]) -> None:
    """Refuse a write that does not carry the browser's word; raises ``Refusal``."""
    if method in READING:
        return
    if len(csrf) != 1 or not hmac.compare_digest(csrf[0].encode("utf-8", "replace"), browser.csrf.encode()):
        raise Refusal(
            Code.FORBIDDEN, "A page that has signed in writes with X-CSRF-Token, which GET /api/csrf gives."
        )


def _cookie(cookies: str, name: str) -> str | None:
    """Give the value of the first cookie of this name; other programs' may look like nothing known."""
    pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
    return next((value for found, _, value in pairs if found == name), None)


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
