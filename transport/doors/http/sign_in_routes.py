"""Signing in over HTTP: the owner has a link made, the browser follows it, and the page gets its word."""

from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from showcaller.actors.contract.errors import invalid
from showcaller.actors.contract.views import Moment, ResultModel
from showcaller.actors.runtime import Clock
from showcaller.transport.doors.http.operations import Operation, Path
from showcaller.transport.doors.http.replies import HEADERS, result_reply
from showcaller.transport.doors.http.sign_in import LINK_SECONDS, LinkUsed, SignIns

SIGN_IN: Final = "/sign-in"
_PAGE: Final = {
    **HEADERS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}
_USED: Final = "This link was used, or is older than a minute. To have another one made: showcaller open\n"
_NO_PAGE: Final = "You are signed in. The page of this relay comes with a later version.\n"


class SignInLink(ResultModel):
    """A link that signs a browser in, once, until it expires."""

    ok: Literal[True] = True
    url: str
    expires_at: Moment


class CsrfToken(ResultModel):
    """What a page that has signed in sends as ``X-CSRF-Token`` with each write."""

    ok: Literal[True] = True
    csrf: str


class SignInRoutes:
    """The paths by which a browser signs in."""

    def __init__(self, sign_ins: SignIns, address: str, clock: Clock) -> None:
        """``address`` is where the relay listens, as the beginning of a URL."""
        self._sign_ins = sign_ins
        self._address = address
        self._clock = clock

    def routes(self) -> list[Path]:
        """Give the paths of the API."""
        return [
            Path("POST", "/api/sign-in-links", self.make_link, _LINK),
            Path("GET", "/api/csrf", self.csrf, _CSRF),
        ]

    def pages(self) -> list[Route]:
        """Give the paths for a browser alone."""
        return [Route(SIGN_IN, self.sign_in, methods=["GET"]), Route("/", self.page, methods=["GET"])]

    async def make_link(self, request: Request) -> Response:
        """Make a link."""
        del request
        url = f"{self._address}{SIGN_IN}?code={self._sign_ins.new_code()}"
        expires_at = self._clock.wall() + int(LINK_SECONDS * 1000)
        return _reply(SignInLink(url=url, expires_at=expires_at))

    async def csrf(self, request: Request) -> Response:
        """Give the page what its writes carry."""
        browser = self._sign_ins.browser_of(request.headers.get("cookie", ""))
        if browser is None:
            raise invalid("This is for a page whose browser has signed in; a token needs no X-CSRF-Token.")
        return _reply(CsrfToken(csrf=browser.csrf))

    async def sign_in(self, request: Request) -> Response:
        """Sign a browser in and lead it to the page."""
        try:
            value = self._sign_ins.sign_in(request.query_params.get("code", ""))
        except LinkUsed:
            return PlainTextResponse(_USED, 410, _PAGE)
        answer = Response(status_code=303, headers={**_PAGE, "location": "/"})
        answer.set_cookie(self._sign_ins.cookie, value, path="/", httponly=True, samesite="strict")
        return answer

    async def page(self, request: Request) -> Response:
        """Stand in for the page."""
        del request
        return PlainTextResponse(_NO_PAGE, 200, _PAGE)


def _reply(answer: ResultModel) -> Response:
    return result_reply(answer.model_dump(mode="json", by_alias=True))


_LINK: Final = Operation("Make a link that signs a browser in, once, within a minute.", gives=SignInLink)
_CSRF: Final = Operation("Give a page that has signed in what its writes carry.", gives=CsrfToken)
