"""Which values count as absent, and arrays and objects that arrive in a string."""

import json
from typing import Any

import pytest

from showcaller.actors.contract.arguments import QuietHours
from showcaller.actors.contract.calls import Ask, Send, Subscribe, UpdateSession
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.shape import parse_call, shape_call
from tests.actors.contract.examples import SESSION, smallest

LIST = smallest("list_sessions")
READ = smallest("read_session")
SEND = smallest("send")
CREATE = smallest("create_session")

WINDOW = {"from": "23:00", "to": "06:00", "tz": "Europe/Berlin"}


def refused(given: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        shape_call(given)
    return caught.value


class TestEmpty:
    @pytest.mark.parametrize(
        "empty", [None, "", "  ", [], {}, {"a": None}, {"a": {"b": ""}, "c": []}, [""], [[]]]
    )
    def test_empty_counts_as_absent_everywhere(self, empty: Any) -> None:
        parsed = parse_call({**LIST, "query": empty, "limit": empty, "scope": empty, "unknown": empty})
        assert parsed == parse_call(LIST)
        assert "needs relay" in refused({**LIST, "relay": empty}).error

    def test_false_counts_as_absent_where_it_says_nothing(self) -> None:
        assert parse_call({**LIST, "include_activity": False}).ignored == ()
        assert parse_call({**CREATE, "once": False}) == parse_call(CREATE)
        assert parse_call({**READ, "include_activity": False}) == parse_call(READ)
        assert parse_call({**LIST, "include_activity": True}).ignored == ("include_activity",)

    def test_a_prompt_of_blanks_is_a_prompt(self) -> None:
        blank = shape_call({**SEND, "text": " "}).call
        assert isinstance(blank, Send)
        assert blank.text == " "


class TestStructures:
    def subscribe(self, **given: Any) -> Subscribe:
        made = shape_call(smallest("subscribe", **given)).call
        assert isinstance(made, Subscribe)
        return made

    def test_an_array_or_object_in_a_string_is_taken_as_what_it_holds(self) -> None:
        sent = self.subscribe(sessions=f' ["{SESSION}"] ', events='["error"]', quiet_hours=json.dumps(WINDOW))
        assert sent == self.subscribe(sessions=[SESSION], events=["error"], quiet_hours=WINDOW)
        assert sent.sessions == (SESSION,)
        assert sent.quiet_hours == QuietHours(start="23:00", end="06:00", tz="Europe/Berlin")

    @pytest.mark.parametrize("empty", ["[]", "{}", '[""]', [" "], '{"from": ""}', {"from": None, "to": ""}])
    def test_empty_ones_are_absent_in_a_string_too(self, empty: object) -> None:
        assert self.subscribe(events=empty, quiet_hours=empty, exclude=empty) == self.subscribe()

    def test_what_is_broken_in_the_string_is_refused(self) -> None:
        twice = smallest("subscribe", quiet_hours='{"from": "b", "from": "c"}')
        assert "comes twice" in refused(twice).error
        assert "no JSON" in refused(smallest("subscribe", sessions='["a"')).error

    def test_text_that_looks_like_json_stays_text_where_text_is_meant(self) -> None:
        asked = shape_call(smallest("ask", detail=' ["a"] ')).call
        assert isinstance(asked, Ask)
        assert asked.detail == ' ["a"] '

    def test_a_missing_relay_means_this_one_where_the_table_says_so(self) -> None:
        assert self.subscribe().relay == "this"
        assert self.subscribe(relay="desk").relay == "desk"

    @pytest.mark.parametrize("sent", [False, "false"])
    def test_false_is_a_value_where_it_is_not_the_default(self, sent: object) -> None:
        updated = shape_call(
            {"action": "update_session", "relay": "this", "session": SESSION, "thinking_enabled": sent}
        ).call
        assert isinstance(updated, UpdateSession)
        assert updated.thinking_enabled is False
        assert updated.title is None

    @pytest.mark.parametrize(
        ("action", "name", "value"),
        [
            ("subscribe", "sessions", [SESSION]),
            ("subscribe", "events", ["error", "turn_end"]),
            ("subscribe", "match", ["a", "b"]),
            ("subscribe", "quiet_hours", WINDOW),
            ("answer_question", "choices", ["Merge"]),
            ("ask", "options", ["Yes", "No"]),
        ],
    )
    def test_every_array_and_object_may_come_in_a_string(self, action: str, name: str, value: object) -> None:
        plain, in_a_string = (
            shape_call(smallest(action, **{name: sent})).call for sent in (value, f" {json.dumps(value)}\n")
        )
        assert in_a_string == plain
        assert name in plain.model_fields_set
