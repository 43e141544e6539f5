from typing import Any

import pytest

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.calls import (
    ListSubscriptions,
    Subscribe,
    TransferSubscriptions,
    Unsubscribe,
)
from showcaller.actors.contract.calls.watching import (
    ActiveSubscription,
    EndedSubscription,
    ListSubscriptionsResult,
    SubscribeResult,
    SubscriptionLeft,
    SubscriptionView,
    TransferSubscriptionsResult,
    UnsubscribeResult,
    WatchedSession,
)
from showcaller.actors.contract.events import EVENTS
from tests.actors.contract.examples import SESSION
from tests.actors.contract.shaping import call_of, refusal_of, shaped

OTHER = "ses_000000000000"
WINDOW = {"from": "23:00", "to": "06:00", "tz": "Europe/Berlin"}
NOTHING = " Nothing was subscribed to."


def quiet(**changed: object) -> dict[str, object]:
    return {**WINDOW, **changed}


class TestSubscribe:
    def test_the_defaults_are_those_of_the_contract(self) -> None:
        assert call_of(Subscribe) == Subscribe(
            relay="this",
            sessions=(SESSION,),
            events=None,
            once=False,
            match=None,
            stalled_minutes=15,
            heartbeat_minutes=None,
            digest_minutes=None,
            quiet_hours=None,
            exclude=None,
        )

    @pytest.mark.parametrize("sent", [["all"], ["ALL", " all "], '["all"]'])
    def test_all_names_every_session(self, sent: object) -> None:
        assert call_of(Subscribe, sessions=sent).sessions == ("all",)

    def test_sessions_are_named_once_each_and_by_prefix(self) -> None:
        assert call_of(Subscribe, sessions=["3f9c2a", SESSION, "ses_3f9c2a"]).sessions == (
            "ses_3f9c2a",
            SESSION,
        )

    @pytest.mark.parametrize(
        ("sent", "why"),
        [
            ([], "needs sessions"),
            ([" ", None], "needs sessions"),
            ("all", 'must be an array, as in ["all"], not text'),
            (SESSION, "must be an array"),
            ([SESSION, "all"], 'must be ["all"] alone or a list of session ids'),
            (["desk"], '"desk" is no session id'),
            ([1], "must be text, not a number"),
            ([[SESSION]], "must be text, not an array"),
            ({"id": SESSION}, "must be an array, as in"),
            ([f"ses_{number:012d}" for number in range(101)], "has 101 entries; 100 are the most"),
        ],
    )
    def test_other_sessions_are_refused(self, sent: object, why: str) -> None:
        assert why in refusal_of("subscribe", sessions=sent)

    def test_events_are_named_in_any_case(self) -> None:
        sent = call_of(Subscribe, events=["Error", " TURN_END ", "error"])
        assert sent.events == ("error", "turn_end")

    def test_an_unknown_event_is_refused_with_the_list(self) -> None:
        assert refusal_of("subscribe", events=["error", "lunch"]) == (
            f'subscribe: events must be one of {", ".join(EVENTS)}, not "lunch".{NOTHING}'
        )

    @pytest.mark.parametrize(
        ("sent", "taken"),
        [
            ("deploy", ("deploy",)),
            (["a", " b ", "a", ""], ("a", "b")),
            ('["a", "b"]', ("a", "b")),
            ("[ERROR] disk", ("[ERROR] disk",)),
            ("{}", None),
        ],
    )
    def test_match_is_a_text_or_up_to_ten(self, sent: object, taken: object) -> None:
        assert call_of(Subscribe, match=sent).match == taken

    @pytest.mark.parametrize(
        ("sent", "why"),
        [
            ([str(number) for number in range(11)], "match has 11 entries; 10 are the most"),
            ("a" * 201, "match has 201 characters; 200 are the most"),
            (["a\nb"], "must be one line"),
            (7, "match must be an array"),
        ],
    )
    def test_other_texts_to_match_are_refused(self, sent: object, why: str) -> None:
        assert why in refusal_of("subscribe", match=sent)

    @pytest.mark.parametrize(
        ("name", "sent", "taken", "span"),
        [
            ("stalled_minutes", 0, 1, "1 to 1440"),
            ("stalled_minutes", 1441, 1440, "1 to 1440"),
            ("heartbeat_minutes", 4, 5, "5 to 1440"),
            ("heartbeat_minutes", 2000, 1440, "5 to 1440"),
            ("digest_minutes", -1, 1, "1 to 1440"),
            ("digest_minutes", "99999", 1440, "1 to 1440"),
        ],
    )
    def test_minutes_outside_their_range_are_clamped_with_a_note(
        self, name: str, sent: object, taken: int, span: str
    ) -> None:
        assert getattr(call_of(Subscribe, **{name: sent}), name) == taken
        assert shaped("subscribe", **{name: sent}).notes == (
            f"{name} {sent} was taken as {taken} (range {span}).",
        )

    def test_exclude_goes_with_all_only(self) -> None:
        assert call_of(Subscribe, sessions=["all"], exclude=["3f9c2a"]).exclude == ("ses_3f9c2a",)
        assert refusal_of("subscribe", exclude=[OTHER]) == (
            'subscribe: exclude goes with sessions ["all"] only; a list of sessions names what it watches.'
            + NOTHING
        )
        assert call_of(Subscribe, exclude=[]).exclude is None
        assert "no session id" in refusal_of("subscribe", sessions=["all"], exclude=["all"])


class TestQuietHours:
    @pytest.mark.parametrize(("start", "end"), [("00:00", "23:59"), ("23:00", "06:00"), (" 09:30 ", "09:31")])
    def test_a_window_of_the_day_is_taken(self, start: str, end: str) -> None:
        sent = call_of(Subscribe, quiet_hours=quiet(**{"from": start, "to": end}))
        assert sent.quiet_hours == QuietHours(start=start.strip(), end=end, tz="Europe/Berlin")

    @pytest.mark.parametrize("empty", [{}, {"from": "", "to": None, "tz": ""}, "", None])
    def test_all_fields_empty_means_none(self, empty: object) -> None:
        assert call_of(Subscribe, quiet_hours=empty).quiet_hours is None

    @pytest.mark.parametrize(
        "time", ["24:00", "9:00", "23:60", "2300", "11 pm", "23:00:00", "", 23, "\uff12\uff13:00"]
    )
    @pytest.mark.parametrize("end", ["from", "to"])
    def test_what_is_no_time_of_day_is_refused(self, end: str, time: object) -> None:
        assert refusal_of("subscribe", quiet_hours=quiet(**{end: time})) == (
            'subscribe: quiet_hours from and to must be times of day as "HH:MM" (00:00 to 23:59).' + NOTHING
        )

    def test_a_window_has_a_length(self) -> None:
        assert refusal_of("subscribe", quiet_hours=quiet(to="23:00")) == (
            "subscribe: quiet_hours from and to must differ." + NOTHING
        )

    @pytest.mark.parametrize(
        "zone", ["Berlin", "", "/etc/localtime", "../UTC", "localtime", "utc", "EST5EDT4,M3.2.0,M11.1.0"]
    )
    def test_what_is_no_zone_is_refused(self, zone: str) -> None:
        assert refusal_of("subscribe", quiet_hours=quiet(tz=zone)) == (
            f'subscribe: quiet_hours tz "{zone}" is not an IANA time zone '
            '(for example "Europe/Berlin", "America/New_York", "UTC").' + NOTHING
        )

    def test_the_zone_of_the_host_is_not_meant_by_leaving_it_out(self) -> None:
        del_tz = {name: value for name, value in WINDOW.items() if name != "tz"}
        assert 'tz "" is not an IANA time zone' in refusal_of("subscribe", quiet_hours=del_tz)

    @pytest.mark.parametrize(
        ("sent", "why"),
        [
            (quiet(days=["sat"]), 'takes from, to and tz, not "days"'),
            ("at night", "must be an object with from, to and tz, not text"),
            ([WINDOW], "must be an object with from, to and tz, not an array"),
            (quiet(tz=7), 'tz "7" is not an IANA time zone'),
        ],
    )
    def test_anything_else_is_refused(self, sent: object, why: str) -> None:
        assert f"quiet_hours {why}" in refusal_of("subscribe", quiet_hours=sent)


def view(**more: Any) -> dict[str, Any]:
    return {
        "id": "sub_ab12cd34ef56",
        "sessions": "all",
        "events": ("error",),
        "once": False,
        "stalled_minutes": 15,
        **more,
    }


def test_subscribe_shows_the_subscription_and_what_is_idle_already() -> None:
    result = SubscribeResult(
        relay="desk",
        summary="subscribe → desk: every session (sub_ab12cd34ef56)",
        subscription_id="sub_ab12cd34ef56",
        subscription=SubscriptionView(
            **view(
                match=("deploy",),
                digest_minutes=30,
                quiet_hours=QuietHours(start="23:00", end="06:00", tz="Europe/Berlin"),
                exclude=(OTHER,),
            )
        ),
        sessions=(
            WatchedSession(id=SESSION, title="Review", state="idle", last_turn="done", already_idle=True),
        ),
    ).to_result()
    assert result["subscription_id"] == "sub_ab12cd34ef56"
    assert result["subscription"] == {
        "id": "sub_ab12cd34ef56",
        "sessions": "all",
        "events": ["error"],
        "once": False,
        "match": ["deploy"],
        "stalledMinutes": 15,
        "digestMinutes": 30,
        "quietHours": WINDOW,
        "exclude": [OTHER],
    }
    assert result["sessions"] == [
        {"id": SESSION, "title": "Review", "state": "idle", "lastTurn": "done", "alreadyIdle": True}
    ]


def test_an_active_subscription_says_null_when_it_holds_nothing_and_an_ended_one_says_why() -> None:
    result = ListSubscriptionsResult(
        relay="desk",
        summary="list_subscriptions: 2",
        subscriptions=(
            ActiveSubscription(**view(), held_count=0),
            EndedSubscription(**view(), ended_at=0, end_reason="once"),
        ),
    ).to_result()
    active, ended = result["subscriptions"]
    assert active["nextDeliveryAt"] is None
    assert active["heldCount"] == 0
    assert ended["endReason"] == "once"
    assert not {"nextDeliveryAt", "heldCount"} & ended.keys()


def test_one_subscription_or_all_are_ended() -> None:
    assert call_of(Unsubscribe).subscription_id == "sub_000000000000"
    assert call_of(Unsubscribe, subscription_id=" ALL ").subscription_id == "all"
    assert refusal_of("unsubscribe", subscription_id="") == "unsubscribe: needs subscription_id."
    result = UnsubscribeResult(relay="desk", summary="x", unsubscribed=("sub_000000000000",)).to_result()
    assert result["unsubscribed"] == ["sub_000000000000"]


def test_a_watcher_may_be_named() -> None:
    assert call_of(ListSubscriptions).watcher is None
    assert call_of(ListSubscriptions, watcher="3f9c2a").watcher == "ses_3f9c2a"


def test_subscriptions_are_taken_over_from_a_conversation() -> None:
    assert call_of(TransferSubscriptions).watcher == SESSION
    assert shaped("transfer_subscriptions", watcher=OTHER).ignored == ("watcher",)
    assert refusal_of("transfer_subscriptions", **{"from": ""}) == (
        "transfer_subscriptions: needs from. Nothing was transferred."
    )
    assert "from " in refusal_of("transfer_subscriptions", **{"from": "desk"})
    result = TransferSubscriptionsResult(
        relay="desk",
        summary="x",
        transferred=(),
        left=(SubscriptionLeft(id="sub_000000000000", on="build-box", reason="locked"),),
    ).to_result()
    assert result["left"] == [{"id": "sub_000000000000", "on": "build-box", "reason": "locked"}]
