"""No caller's requests take all places of the door: the owner always gets in."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.transport.doors.http.open_requests import MOST_OF_ONE, MOST_TOGETHER, OpenRequests
from showcaller.transport.doors.http.server import MOST_CONNECTIONS


class Crowd:
    """Requests under way, each in a task of its own as those of a door are."""

    def __init__(self, requests: OpenRequests) -> None:
        self._requests = requests
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def come(self, session: str | None, number: int) -> None:
        self._tasks += [asyncio.ensure_future(self._request(session)) for _ in range(number)]
        await asyncio.wait(self._tasks, timeout=0)

    async def go(self) -> None:
        self._over.set()
        await asyncio.gather(*self._tasks)

    async def _request(self, session: str | None) -> None:
        self._requests.admit(session)
        async with self._requests.hold(session):
            await self._over.wait()


async def test_requests_of_others_leave_places_to_the_owner_and_to_each_other() -> None:
    requests = OpenRequests()
    crowd = Crowd(requests)
    async with AsyncExitStack() as opened:
        opened.push_async_callback(crowd.go)
        await crowd.come("ses_aaaaaaaaaaaa", MOST_OF_ONE)
        with pytest.raises(Refusal) as refused:
            requests.admit("ses_aaaaaaaaaaaa")
        assert (refused.value.code, refused.value.fields) == (Code.RATE_LIMITED, {"retry_after_seconds": 1})
        requests.admit("ses_bbbbbbbbbbbb")
        await crowd.come("ses_bbbbbbbbbbbb", MOST_TOGETHER - MOST_OF_ONE)
        with pytest.raises(Refusal):
            requests.admit("ses_cccccccccccc")
        for _ in range(MOST_CONNECTIONS):
            requests.admit(None)
    requests.admit("ses_aaaaaaaaaaaa")
    assert MOST_TOGETHER < MOST_CONNECTIONS
