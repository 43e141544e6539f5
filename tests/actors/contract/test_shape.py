import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.calls import (
    Call,
    CallModel,
    CreateSession,
    ListSessions,
    ReadSession,
    Send,
    Wait,
)
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.limits import CALL_BYTES, TEXT_CHARACTERS
from showcaller.actors.contract.shape import parse_call, shape_call
from tests.actors.contract.examples import SESSION, smallest

SEND = {"action": "send", "relay": "this", "session": SESSION, "text": "Hello"}
CREATE = {"action": "create_session", "relay": "this", "text": "Hello"}
LIST = {"action": "list_sessions", "relay": "this"}
READ = {"action": "read_session", "relay": "this", "session": SESSION}
WAIT = {"action": "wait", "relay": "this", "session": SESSION, "message_id": "msg_000000000000"}


def call(given: dict[str, Any], **more: Any) -> Call:
    return parse_call({**given, **more}).call


def refused(given: object, **settings: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse_call(given, **settings)
    return caught.value


def test_the_defaults_are_those_of_the_contract() -> None:
    assert call(LIST) == ListSessions(relay="this", scope="recent", limit=20)
    assert call(READ) == ReadSession(
        relay="this", session=SESSION, last=10, max_chars=12_000, include_activity=False
    )
    assert call(SEND) == Send(relay="this", session=SESSION, text="Hello", wait_seconds=120, if_busy="queue")
    assert call(CREATE) == CreateSession(relay="this", text="Hello", wait_seconds=120)
    assert call(WAIT) == Wait(relay="this", session=SESSION, message_id="msg_000000000000", wait_seconds=120)


def test_a_call_is_taken_as_values_as_text_and_as_bytes() -> None:
    text = json.dumps(SEND)
    assert parse_call(SEND) == parse_call(text) == parse_call(text.encode())


@pytest.mark.parametrize("raw", [None, 1, [], "[]", "", "x", "null", [SEND], object(), b"\xff"])
def test_what_is_no_object_is_refused(raw: object) -> None:
    assert refused(raw).code is Code.INVALID_INPUT


class TestTexts:
    def test_strings_are_trimmed(self) -> None:
        assert call(LIST, relay=" Desk \n", query="\ta b ") == ListSessions(relay="Desk", query="a b")

    def test_a_prompt_stays_as_it_was_sent(self) -> None:
        sent = call(SEND, text="  two\n lines\t\n")
        assert isinstance(sent, Send)
        assert sent.text == "  two\n lines\t\n"

    def test_over_long_text_is_refused_and_never_cut(self) -> None:
        longest = call(SEND, text="é" * TEXT_CHARACTERS)
        assert isinstance(longest, Send)
        assert len(longest.text) == TEXT_CHARACTERS
        refusal = refused({**SEND, "text": "a" * (TEXT_CHARACTERS + 1)})
        assert refusal.error == "send: text has 100001 characters; 100000 are the most. Nothing was sent."
        assert "title has 201" in refused({**CREATE, "title": "a" * 201}).error

    @pytest.mark.parametrize("title", ["two\nlines", "a\0b", "a\x1b[0m", "a\u2028b"])
    def test_a_name_is_one_line_without_control_characters(self, title: str) -> None:
        assert "must be one line" in refused({**CREATE, "title": title}).error

    @pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
    def test_half_a_surrogate_pair_is_refused(self, text: str) -> None:
        assert "surrogate" in refused({**SEND, "text": text}).error
        assert "surrogate" in refused({**SEND, text: "x"}).error

    @pytest.mark.parametrize(
        ("name", "value"), [("text", 1), ("text", ["a"]), ("query", {"a": 1}), ("text", True)]
    )
    def test_what_is_no_text_is_refused(self, name: str, value: object) -> None:
        given = SEND if name == "text" else LIST
        assert f"{name} must be text" in refused({**given, name: value}).error


class TestChoices:
    def test_choices_are_taken_in_any_case(self) -> None:
        assert call(SEND, mode=" Plan ", if_busy="FAIL", effort="High") == Send(
            relay="this", session=SESSION, text="Hello", mode="plan", if_busy="fail", effort="high"
        )
        assert call(LIST, scope="ALL") == ListSessions(relay="this", scope="all")
        assert call({**LIST, "action": " List_Sessions "}) == ListSessions(relay="this")

    def test_another_word_is_refused_with_the_choices(self) -> None:
        refusal = refused({**SEND, "mode": "yolo"})
        assert refusal.error == (
            'send: mode must be one of ask, plan, agent, autopilot, not "yolo". Nothing was sent.'
        )

    @pytest.mark.parametrize("effort", ["very high", "-" * 33, "hoch!", "ä"])
    def test_an_effort_is_one_short_word(self, effort: str) -> None:
        assert "effort" in refused({**SEND, "effort": effort}).error

    @pytest.mark.parametrize(
        ("sent", "taken"), [("true", True), (" False ", False), (True, True), (False, False)]
    )
    def test_a_switch_is_true_or_false(self, sent: object, taken: bool) -> None:
        read = call(READ, include_activity=sent)
        assert isinstance(read, ReadSession)
        assert read.include_activity is taken
        assert "include_activity must be true or false" in refused({**READ, "include_activity": "yes"}).error


class TestNumbers:
    @pytest.mark.parametrize("sent", [7, 7.0, "7", " +7 ", "7.00", "007"])
    def test_a_whole_number_is_taken_however_it_is_written(self, sent: object) -> None:
        assert call(LIST, limit=sent) == ListSessions(relay="this", limit=7)

    @pytest.mark.parametrize(
        ("sent", "taken"),
        [(0, 1), (-5, 1), (101, 100), (2**63, 100), (2**64 - 1, 100), (-(2**63), 1), ("1e", None)],
    )
    def test_a_number_outside_its_range_is_clamped_and_a_note_says_so(
        self, sent: Any, taken: int | None
    ) -> None:
        if taken is None:
            assert "limit must be a whole number" in refused({**LIST, "limit": sent}).error
            return
        parsed = parse_call({**LIST, "limit": sent})
        assert parsed.call == ListSessions(relay="this", limit=taken)
        assert parsed.notes == (f"limit {sent} was taken as {taken} (range 1 to 100).",)

    @pytest.mark.parametrize("sent", [-0.0, "-0", "-0.0", 0])
    def test_minus_zero_is_zero(self, sent: object) -> None:
        parsed = parse_call({**SEND, "wait_seconds": sent})
        assert isinstance(parsed.call, Send)
        assert str(parsed.call.wait_seconds) == "0"
        assert parsed.notes == ()

    def test_a_number_inside_its_range_leaves_no_note(self) -> None:
        assert parse_call({**LIST, "limit": 100}).notes == ()

    @pytest.mark.parametrize(
        "sent",
        [
            2**64,
            -(2**63) - 1,
            1e300,
            float("nan"),
            float("inf"),
            -float("inf"),
            "NaN",
            "Infinity",
            "soon",
            "9" * 22,
        ],
    )
    def test_a_number_beyond_64_bits_and_what_is_none_is_refused(self, sent: object) -> None:
        assert refused({**LIST, "limit": sent}).code is Code.INVALID_INPUT

    @pytest.mark.parametrize("sent", [True, 1.5, "1.5", [1], {"a": 1}, "\u0667", "1_0"])
    def test_what_is_no_whole_number_is_refused(self, sent: object) -> None:
        assert "limit must be a whole number" in refused({**LIST, "limit": sent}).error

    def test_a_wait_is_cut_to_the_relays_longest_and_a_note_says_so(self) -> None:
        parsed = parse_call({**SEND, "wait_seconds": 900}, longest_wait_seconds=600)
        assert isinstance(parsed.call, Send)
        assert parsed.call.wait_seconds == 600
        assert parsed.notes == ("wait_seconds 900 was taken as 600 (range 0 to 600).",)
        assert parse_call({**SEND, "wait_seconds": 900}, longest_wait_seconds=3600).notes == ()


class TestForeign:
    def test_create_session_refuses_a_foreign_argument_and_lists_its_own(self) -> None:
        refusal = refused({**CREATE, "session": SESSION})
        assert refusal.error == (
            "create_session does not take: session. Its arguments: relay, text, provider, model, cwd, repo, "
            "branch, mode, effort, title, group, wait_seconds. Nothing was created."
        )
        assert refusal.code is Code.INVALID_INPUT

    def test_every_other_action_runs_and_lists_what_it_ignored(self) -> None:
        parsed = parse_call({**SEND, "title": "x", "cursor": 0})
        assert parsed.call == call(SEND)
        assert parsed.ignored == ("title", "cursor")

    def test_at_most_twenty_ignored_names_are_listed(self) -> None:
        assert len(parse_call({**SEND, **{f"x{number}": 1 for number in range(50)}}).ignored) == 20

    def test_a_strange_name_is_quoted_and_cut(self) -> None:
        ignored = parse_call({**SEND, "a\nb": 1, "c" * 900: 1}).ignored
        assert ignored[0] == '"a\\nb"'
        assert len(ignored[1]) <= 64


class TestActions:
    @pytest.mark.parametrize("name", ["dance", "list sessions", "sendx", 7, None, "", [], {}])
    def test_an_unknown_action_is_refused(self, name: object) -> None:
        assert refused({**LIST, "action": name}).code is Code.INVALID_INPUT

    def test_the_refusal_lists_the_actions(self) -> None:
        for lacking in ({"action": "dance"}, {}):
            assert refused(lacking).to_result()["actions"] == list(ACTIONS)
        assert '"dance"' in refused({"action": "dance"}).error

    @pytest.mark.parametrize("name", [row.name for row in ACTIONS.values() if not row.available])
    def test_an_action_that_is_not_built_is_refused_as_unsupported(self, name: str) -> None:
        refusal = refused(smallest(name))
        assert refusal.code is Code.UNSUPPORTED
        assert name in refusal.error
        assert "send" in refusal.to_result()["actions"]

    @pytest.mark.parametrize("more", [{}, {"question_id": [1]}, {"foreign": 1}, {"relay": 7}])
    def test_that_an_action_is_not_built_is_said_whatever_its_arguments(self, more: dict[str, Any]) -> None:
        for row in ACTIONS.values():
            if not row.available:
                assert refused({"action": row.name, **more}).code is Code.UNSUPPORTED


class TestRequired:
    @pytest.mark.parametrize(
        ("given", "missing"),
        [
            (LIST, "relay"),
            (READ, "session"),
            (SEND, "text"),
            (CREATE, "text"),
            (WAIT, "message_id"),
            (WAIT, "session"),
        ],
    )
    def test_a_missing_argument_is_named(self, given: dict[str, Any], missing: str) -> None:
        refusal = refused({name: value for name, value in given.items() if name != missing})
        assert f"needs {missing}" in refusal.error
        assert refusal.to_result()["missingArguments"] == [missing]

    @pytest.mark.parametrize("action", [row.name for row in ACTIONS.values() if row.available])
    def test_who_names_no_relay_is_told_that_this_is_this_one(self, action: str) -> None:
        row = ACTIONS[action]
        if row.takes_relay and not row.relay_optional:
            refusal = refused({"action": action})
            assert 'relay ("this" is this relay)' in refusal.error
            assert "relay" in refusal.to_result()["missingArguments"]

    def test_an_external_session_may_wait_for_whatever_comes(self) -> None:
        bare = {"action": "wait", "relay": "this"}
        assert parse_call(bare, external=True).call == Wait(relay="this")
        assert "needs session and message_id" in refused(bare).error
        assert "needs message_id" in refused({**bare, "session": SESSION}, external=True).error


class TestNames:
    @pytest.mark.parametrize("relay", ["this", "THIS", " This "])
    def test_this_relay_is_named_in_any_case(self, relay: str) -> None:
        listing = call(LIST, relay=relay)
        assert isinstance(listing, ListSessions)
        assert listing.relay == "this"

    @pytest.mark.parametrize("name", [SESSION, "3f9c2a1e7b0d", "ses_3f9c2a", "3f9c2a", " 3f9c2a "])
    def test_a_session_is_named_by_six_characters_or_more(self, name: str) -> None:
        read = call(READ, session=name)
        assert isinstance(read, ReadSession)
        assert SESSION.startswith(read.session)

    @pytest.mark.parametrize("name", ["3f9c2", "msg_3f9c2a1e7b0d", "desk session", SESSION + "0", 123456])
    def test_what_can_name_no_session_is_refused(self, name: object) -> None:
        assert "session" in refused({**READ, "session": name}).error

    @pytest.mark.parametrize(
        "repo",
        [
            "https://example.org/a/b.git",
            "ssh://git@example.org/a",
            "git@example.org:a/b.git",
            "owner/name",
            "a-b/c.d",
        ],
    )
    def test_a_repository_is_an_address_or_owner_and_name(self, repo: str) -> None:
        created = call(CREATE, repo=repo, branch="main")
        assert isinstance(created, CreateSession)
        assert created.repo == repo

    @pytest.mark.parametrize(
        "repo",
        [
            "/srv/repo",
            "./repo",
            "../repo",
            "file:///srv/repo",
            "ext::sh -c id",
            "-oProxyCommand=id",
            "ssh://-oProxyCommand=id/x",
            "git@-host:x",
            "http://example.org/a",
            "https://example.org/a b",
            "a/b/c",
            "https:///x",
        ],
    )
    def test_a_repository_that_is_local_or_an_option_is_refused(self, repo: str) -> None:
        assert "repo" in refused({**CREATE, "repo": repo}).error

    def test_a_branch_that_is_an_option_is_refused(self) -> None:
        assert "branch" in refused({**CREATE, "repo": "a/b", "branch": "--upload-pack=id"}).error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
NAMES = sorted({name for row in ACTIONS.values() for name in row.arguments} | {"x", "", "a\nb"})
CALLS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8)
LIKELY = st.fixed_dictionaries({"action": st.sampled_from(list(ACTIONS)), "relay": st.just("this")})


def again(call: CallModel) -> dict[str, Any]:
    """Give a call as a caller would write it who names every argument."""
    return call.model_dump(mode="json", by_alias=True)


@given(JSON | CALLS | st.builds(lambda one, other: {**one, **other}, CALLS, LIKELY))
@example({"action": "send", "relay": "this", "session": SESSION, "text": "a", "mode": {"a": "b"}})
def test_any_value_gives_a_call_or_a_refusal_and_nothing_else(raw: object) -> None:
    try:
        parsed = shape_call(raw)
    except Refusal as refusal:
        answer = json.dumps(refusal.to_result(), allow_nan=False).encode()
        assert len(answer) < 4000
    else:
        assert shape_call(again(parsed.call)).call == parsed.call


@given(st.text() | st.binary())
def test_any_text_gives_a_call_or_a_refusal_and_nothing_else(raw: str | bytes) -> None:
    assert refused(raw).code is Code.INVALID_INPUT


def test_text_over_the_cap_is_refused_before_it_is_read() -> None:
    assert "bytes" in refused('"' + "a" * CALL_BYTES + '"').error
