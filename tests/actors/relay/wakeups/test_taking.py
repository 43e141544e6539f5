from itertools import product

import pytest

from showcaller.actors.contract.events import EVENTS, EventName, heard_events
from showcaller.actors.relay.wakeups.taking import (
    Happened,
    Reply,
    Watch,
    echo,
    is_urgent,
    is_withdrawn,
    taken,
    takes,
    watches,
)

WATCH = Watch("sub_1", "ses_me")
END = Happened(7, "turn_end", session="ses_a", title="Review: server/", text="Found 4 places")


def of(kind: str) -> Happened:
    return END._replace(kind=kind)


# -- which sessions --------------------------------------------------------------------------------


def test_a_list_names_what_is_watched() -> None:
    named = WATCH._replace(sessions=frozenset({"ses_a"}))
    assert takes(named, END)
    assert not takes(named, END._replace(session="ses_b"))


def test_all_takes_in_every_session_but_those_left_out() -> None:
    assert takes(WATCH, END._replace(session="ses_made_later"))
    assert not takes(WATCH._replace(excluded=frozenset({"ses_a"})), END)


@pytest.mark.parametrize("sessions", [None, frozenset({"ses_a", "ses_me"})])
def test_the_watchers_own_conversation_is_never_watched(sessions: frozenset[str] | None) -> None:
    watch = WATCH._replace(sessions=sessions)
    assert not watches(watch, "ses_me")
    for kind in EVENTS:
        assert not takes(watch._replace(heartbeat=True), of(kind)._replace(session="ses_me")), kind


def test_a_session_of_a_paired_relay_is_not_taken_for_one_of_the_same_id_here() -> None:
    there = WATCH._replace(relay="rly_box")
    assert takes(there, END._replace(relay="rly_box", session="ses_me"))
    assert not takes(there, END)
    assert not takes(WATCH, END._replace(relay="rly_box"))


def test_what_happened_before_the_subscription_is_not_taken() -> None:
    assert not takes(WATCH._replace(since=7), END)
    assert takes(WATCH._replace(since=6), END)


# -- which events ----------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [None, ("turn_started",), ("task_finished", "heartbeat"), ("turn_end",)])
@pytest.mark.parametrize("heartbeat", [False, True])
def test_a_subscription_takes_what_it_hears(named: tuple[EventName, ...] | None, heartbeat: bool) -> None:
    watch = WATCH._replace(events=named, heartbeat=heartbeat)
    told = {kind for kind in EVENTS if takes(watch, of(kind))}
    assert told == heard_events(watch.events, heartbeat=heartbeat)


def test_an_event_that_this_version_does_not_know_is_not_taken() -> None:
    assert not takes(WATCH, of("session_renamed"))
    assert not is_urgent("session_renamed")


def test_what_was_found_for_one_subscription_is_not_anothers() -> None:
    idle = Happened(8, "all_idle", subscription="sub_1")
    assert takes(WATCH, idle)
    assert not takes(WATCH._replace(id="sub_2"), idle)


def test_the_answer_to_a_question_is_told_without_a_subscription() -> None:
    assert not takes(WATCH, Happened(9, "question_answered", session="ses_a", asker="ses_me"))


@pytest.mark.parametrize("kind", ["link_lost", "link_restored"])
def test_a_link_concerns_whoever_watches_over_it(kind: str) -> None:
    event = Happened(9, kind, relay="rly_box")
    assert takes(WATCH._replace(relay="rly_box", sessions=frozenset({"ses_a"}), events=("turn_end",)), event)
    assert not takes(WATCH, event)


# -- match -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "is_taken"),
    [
        (("found 4",), True),
        (("SERVER",), True),
        (("nothing", "review:"), True),
        (("nothing",), False),
        (("",), True),
    ],
)
def test_one_of_the_texts_stands_in_the_text_or_the_title_in_any_case(
    texts: tuple[str, ...], is_taken: bool
) -> None:
    assert takes(WATCH._replace(matches=texts), END) is is_taken


def test_letters_that_have_no_small_form_of_their_own_match_too() -> None:
    assert takes(WATCH._replace(matches=("STRASSE",)), END._replace(text="Die Straße"))


def test_urgent_events_are_taken_whatever_they_say() -> None:
    watch = WATCH._replace(matches=("nothing",))
    told = {kind for kind in EVENTS if takes(watch, of(kind))}
    assert told == {kind for kind, event in EVENTS.items() if event.urgent}


# -- once ------------------------------------------------------------------------------------------


def test_once_ends_with_the_first_event_that_is_taken() -> None:
    once = WATCH._replace(once=True, matches=("four",))
    events = [END, END._replace(cursor=8, text="four"), END._replace(cursor=9, text="four")]
    assert taken(once, events) == ((events[1],), events[1])
    assert taken(once, events[:1]) == ((), None)


def test_without_once_all_that_is_heard_is_taken_in_order() -> None:
    events = [END._replace(cursor=cursor) for cursor in (8, 9, 11)]
    assert taken(WATCH, [events[0], of("task_started"), *events[1:]]) == (tuple(events), None)


def test_a_link_that_breaks_ends_nothing_that_is_watched_once() -> None:
    once = WATCH._replace(once=True, relay="rly_box")
    lost = Happened(8, "link_lost", relay="rly_box")
    end = END._replace(cursor=9, relay="rly_box")
    assert taken(once, [lost, end]) == ((lost, end), end)


# -- the watcher's own echo ------------------------------------------------------------------------

REPLIES: tuple[Reply, ...] = ("not asked for", "awaited", "written", "received", "lost")


@pytest.mark.parametrize(
    ("reply", "becomes"),
    [
        ("not asked for", "tell"),
        ("awaited", "hold"),
        ("written", "hold"),
        ("received", "drop"),
        ("lost", "tell"),
    ],
)
def test_the_end_of_a_turn_whose_reply_the_watcher_got_is_dropped_and_in_doubt_told(
    reply: Reply, becomes: str
) -> None:
    assert echo("turn_end", prompted_by_watcher=True, reply=reply, ends_once=False) == becomes


def test_nothing_else_is_an_echo() -> None:
    for kind, prompted, reply, once in product(EVENTS, (False, True), REPLIES, (False, True)):
        if kind != "turn_end" or not prompted or once:
            assert echo(kind, prompted_by_watcher=prompted, reply=reply, ends_once=once) == "tell"


def test_an_unread_line_is_withdrawn_once_its_reply_was_received() -> None:
    gone = [
        (kind, reply, is_read)
        for kind, reply, is_read in product(EVENTS, REPLIES, (False, True))
        if is_withdrawn(kind, reply, is_read=is_read)
    ]
    assert gone == [("turn_end", "received", False)]
