"""Calls of every action, for fuzzing: valid ones, nearly valid ones, and anything that is JSON.

``calls()`` draws from all three. A test that carries them out against a relay sets ``max_examples`` as high
as it has time for; what it may expect is a result or a refusal with a code, whatever is drawn.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.events import EVENTS
from showcaller.actors.contract.json_text import INT_HIGHEST, INT_LOWEST

Arguments = dict[str, Any]
Values = st.SearchStrategy[Any]

ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
FEW: Final = [f"ses_{number:012d}" for number in range(3)]
"""A few sessions that calls name again and again, so that they meet."""

JSON: Final[Values] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def _id(prefix: str) -> st.SearchStrategy[str]:
    return st.text(ALPHABET, min_size=12, max_size=12).map(lambda body: prefix + body)


def _lines(most: int) -> st.SearchStrategy[str]:
    seen = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
    return st.text(seen, min_size=1, max_size=min(most, 30)).filter(lambda line: line.strip() != "")


def _texts(most: int) -> st.SearchStrategy[str]:
    usual = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    return usual | st.integers(1, most).map(lambda length: "é" * length)


def _numbers(low: int, high: int) -> Values:
    numbers = st.integers(low, high)
    return numbers | numbers.map(str) | numbers.map(float)


def _lists(entries: Values, most: int) -> Values:
    lists = st.lists(entries, min_size=1, max_size=most)
    return lists | lists.map(json.dumps)


def _cased(*words: str) -> st.SearchStrategy[str]:
    return st.builds(lambda word, up: word.upper() if up else word, st.sampled_from(words), st.booleans())


SESSION: Final = st.sampled_from(FEW) | _id("ses_") | _id("").map(lambda body: body[:8])
ZONE: Final = st.sampled_from(["Europe/Berlin", "America/New_York", "UTC", "Asia/Kathmandu"])
TIME_OF_DAY: Final = st.builds("{:02d}:{:02d}".format, st.integers(0, 23), st.integers(0, 59))
OFFSET_TIME: Final = st.builds(
    "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:00{}".format,
    st.integers(2025, 2035),
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["Z", "+01:00", "-0930"]),
)
RULE: Final = st.sampled_from(
    [
        "FREQ=DAILY;BYHOUR=9;BYMINUTE=0",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0",
        "FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=2",
        "rrule:freq=minutely;interval=7;count=3",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    ]
)
QUIET_HOURS: Final = st.tuples(TIME_OF_DAY, TIME_OF_DAY, ZONE).map(
    lambda given: {"from": given[0], "to": given[1], "tz": given[2]}
)

VALUES: Final[dict[str, Values]] = {
    "relay": st.sampled_from(["this", "THIS", "desk", "@build-box", "nowhere"]),
    "scope": _cased("active", "recent", "all"),
    "query": _lines(200),
    "limit": _numbers(1, 100),
    "cursor": _lines(1000),
    "session": SESSION,
    "last": _numbers(1, 50),
    "max_chars": _numbers(500, 50_000),
    "include_activity": st.sampled_from([True, False, "true", "False"]),
    "before": _lines(64),
    "task_id": _id("tsk_"),
    "lines": _numbers(1, 500),
    "text": _texts(100_000),
    "wait_seconds": st.sampled_from([0, "0", 0.0]),  # whoever carries these calls out need not wait
    "model": _lines(200),
    "mode": _cased("ask", "plan", "agent", "autopilot"),
    "effort": _cased("low", "high", "x-1"),
    "if_busy": _cased("queue", "fail"),
    "provider": st.sampled_from(["command", "callable:os:getcwd", "claude"]),
    "cwd": st.sampled_from(["/", "/nowhere", "relative"]),
    "repo": st.sampled_from(["owner/name", "https://example.org/a.git"]),
    "branch": st.sampled_from(["main", "feature/x"]),
    "title": _lines(200),
    "group": st.sampled_from(["none", "grp_000000000000", "Release 2.4"]),
    "auto_compact_window": st.just("auto") | _numbers(0, 1_000_000),
    "thinking_enabled": st.booleans(),
    "thinking_display": _cased("summarized", "off"),
    "message_id": _id("msg_"),
    "question_id": _id("q_") | _id("ask_"),
    "choices": _lists(_lines(100), 3),
    "answer": _texts(1000),
    "sessions": st.sampled_from([["all"], '["all"]', ["ALL"]]) | _lists(SESSION, 4),
    "events": _lists(_cased(*EVENTS), 5),
    "once": st.booleans(),
    "match": _lines(200).filter(lambda line: line.strip()[:1] not in "[{") | _lists(_lines(200), 10),
    "stalled_minutes": _numbers(1, 1440),
    "heartbeat_minutes": _numbers(5, 1440),
    "digest_minutes": _numbers(1, 1440),
    "quiet_hours": (window := QUIET_HOURS.filter(lambda given: given["from"] != given["to"]))
    | window.map(json.dumps),
    "exclude": _lists(SESSION, 4),
    "subscription_id": st.just("all") | _id("sub_"),
    "watcher": SESSION,
    "from": SESSION,
    "at": OFFSET_TIME,
    "every_minutes": _numbers(1, 525_600),
    "rrule": RULE,
    "tz": ZONE,
    "schedule_id": _id("sch_"),
    "question": _texts(2000),
    "options": st.lists(_lines(200), min_size=1, max_size=10, unique_by=lambda line: line.strip().casefold()),
    "recommendation": _lines(500),
    "detail": _texts(10_000),
}
"""Values that each argument takes, in every way of writing them."""

EMPTY: Final = st.sampled_from([None, "", "  ", [], {}, {"a": None}, [""], "[]"])
ODD: Final[Values] = (
    st.sampled_from(
        [
            -1,
            0,
            INT_LOWEST,
            INT_HIGHEST,
            INT_HIGHEST + 1,
            10**30,
            -0.0,
            1e300,
            float("nan"),
            float("inf"),
            True,
            "NaN",
            "9" * 30,
            "\ud800",
            "\0",
            "\u202eabc",
            "a\u200bb",
            "\r\n[relay event]",
            "x" * 2001,
            "x" * 100_001,
            "[",
            '{"a": 1, "a": 2}',
            "[" * 100,
            "/etc/localtime",
            "../..",
            ["all", "ses_000000000000"],
            [["all"]],
            {"from": "23:00"},
            {"from": "1", "to": "2", "tz": ""},
            "FREQ=SECONDLY",
            "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=9",
        ]
    )
    | JSON
)
"""Values that hardly any argument takes."""


def _needed(action: str) -> list[str]:
    model = ACTIONS[action].model
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    return [*required, *(name for name in model.model_fields if name in model.not_external)]


@st.composite
def valid_calls(draw: st.DrawFn, actions: Values = st.sampled_from(list(ACTIONS))) -> Arguments:  # noqa: B008
    """Draw a call that has the right shape, of one of the actions."""
    action = draw(actions)
    row = ACTIONS[action]
    names = [name for name in row.arguments if name in _needed(action) or draw(st.booleans())]
    one_of = row.model.one_of
    if one_of and not set(one_of) & set(names):
        names.append(draw(st.sampled_from(one_of)))
    call = {"action": action, **{name: draw(VALUES[name]) for name in names}}
    return _FITTED[action](call) if action in _FITTED else call


def _fitted_subscribe(call: Arguments) -> Arguments:
    return {**call, "sessions": ["all"]} if "exclude" in call else call


def _fitted_schedule(call: Arguments) -> Arguments:
    if "rrule" not in call:
        return call
    return {"tz": "UTC", **{name: value for name, value in call.items() if name != "every_minutes"}}


_FITTED: Final[dict[str, Callable[[Arguments], Arguments]]] = {
    "subscribe": _fitted_subscribe,
    "schedule": _fitted_schedule,
}


@st.composite
def nearly_valid_calls(draw: st.DrawFn) -> Arguments:
    """Draw a call of the right shape in which one to three things are then changed."""
    call = draw(valid_calls())
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([*call, *VALUES, "relays", "a\nb"]))
        match draw(st.integers(0, 3)):
            case 0:
                call.pop(name, None)
            case 1:
                call[name] = draw(ODD)
            case 2:
                call[name] = draw(EMPTY)
            case _:
                call[name] = draw(VALUES[draw(st.sampled_from(list(VALUES)))])
    return call


def wild_calls() -> Values:
    """Draw anything that JSON can say, and objects that have some of the names of a call."""
    names = st.sampled_from(["action", *VALUES, "", "x"])
    named = st.dictionaries(names, JSON | ODD, max_size=6)
    acting = st.builds(
        lambda action, given: {**given, "action": action}, st.sampled_from(list(ACTIONS)), named
    )
    return JSON | ODD | named | acting


def calls() -> Values:
    """Draw from everything: valid calls, nearly valid ones, wild ones."""
    return valid_calls() | nearly_valid_calls() | wild_calls()
