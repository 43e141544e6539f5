"""``showcaller subscriptions``."""

import json
from typing import Any

from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

ONE: dict[str, Any] = {
    "id": "sub_ab12cd34ef56",
    "watcher": {"id": "ses_3f9c2a1e07bd", "title": "Release \x1b[31m2.4"},
    "sessions": [{"id": "ses_77aa12cd34ef", "title": "Nightly"}, {"id": "ses_88aa12cd34ef", "title": "Docs"}],
    "events": ["turn_end"],
    "once": True,
    "stalledMinutes": 15,
    "digestMinutes": 30,
    "quietHours": {"from": "23:00", "to": "06:00", "tz": "Europe/Berlin"},
    "heldCount": 2,
    "nextDeliveryAt": "2026-11-29T17:00:00.000Z",
}
ALL: dict[str, Any] = {
    **{name: ONE[name] for name in ("events", "stalledMinutes")},
    "id": "sub_cd34ef56ab12",
    "sessions": "all",
    "once": False,
    "exclude": ["ses_77aa12cd34ef"],
    "endReason": "by_owner",
    "endedAt": "2026-11-29T17:00:00.000Z",
}


def answering(relay: FakeRelay, *results: dict[str, Any]) -> None:
    left = list(results)
    relay.answer = lambda call: {"ok": True, "relay": "desk", "summary": "…", **left.pop(0)}


def test_they_stand_in_a_table_with_who_watches_what(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answering(relay, {"subscriptions": [ONE, ALL]})
    ended = showcaller("subscriptions")
    assert ended.code == 0
    head, first, second = ended.out.splitlines()
    assert head.split()[:3] == ["SUBSCRIPTION", "WATCHER", "WATCHES"]
    assert "sub_ab12cd34ef56  Release \\x1b[31m2.4  Nightly, Docs" in first
    assert "once, digest every 30 min, quiet 23:00–06:00 Europe/Berlin" in first
    assert "every session" in second
    assert "ended (by_owner)" in second
    assert relay.calls == [{"action": "list_subscriptions"}]


def test_those_of_one_conversation_are_asked_for_by_its_id(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answering(relay, {"session": {"id": "ses_3f9c2a1e07bd"}}, {"subscriptions": [ONE]})
    ended = showcaller("subscriptions", "3f9c2a1e", "--json")
    assert json.loads(ended.out) == {"subscriptions": [ONE]}
    assert relay.calls[1] == {"action": "list_subscriptions", "watcher": "ses_3f9c2a1e07bd"}


def test_one_is_ended_by_its_id(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answering(relay, {"unsubscribed": ["sub_ab12cd34ef56"]})
    ended = showcaller("subscriptions", "--end", "sub_ab12cd34ef56")
    assert (ended.code, ended.err) == (0, "sub_ab12cd34ef56 has ended.\n")
    assert relay.calls == [{"action": "unsubscribe", "subscription_id": "sub_ab12cd34ef56"}]


def test_one_that_is_not_there_is_said_so(showcaller: ShowCaller, relay: FakeRelay) -> None:
    relay.answer = lambda call: {"ok": False, "code": "REMOTE_RELAY_NOT_FOUND", "error": "No conversation…"}
    assert showcaller("subscriptions", "--end", "sub_none").code == 3
    assert showcaller("subscriptions", "desk", "--end", "sub_none").code == 2


def test_where_nobody_watches_it_says_so(showcaller: ShowCaller, relay: FakeRelay) -> None:
    answering(relay, {"subscriptions": []})
    ended = showcaller("subscriptions")
    assert (ended.code, ended.out, ended.err) == (0, "", "Nobody watches anything.\n")
