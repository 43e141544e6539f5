"""Which approval cards are due, against an oracle written from the specification's table and not from ours.

``SPOKEN`` is that table as a person reads it, for single calls; the matrix walks every call that there can be
with ``_oracle``, which knows the rules as sentences and nothing of how ``table.py`` is built.
"""

from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import Any, Final, NamedTuple, get_args

import pytest

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.errors import Code
from showcaller.actors.relay.consent.table import (
    TABLE,
    Grants,
    RowName,
    Standing,
    Write,
    can_be_shared,
    denied_code,
    due,
    granted,
)

MODES: Final = ("ask", "plan", "agent", "autopilot")
WHOSE: Final = ("started here", "the owner's", "another agent's", "a command", "a function")
COUNTS: Final = (0, 29, 30, 31)
STANDING: Final[tuple[Standing, ...]] = ("create", "subscribe", "settings")
# From the table of the tool's actions: what asks first in ask and plan, and what counts towards the 30.
WRITES: Final = {"send", "create_session", "update_session", "answer_question", "stop", "archive"}
PROMPTS: Final = {"send", "create_session", "answer_question"}
WITH_SESSION: Final = {"schedule", "ask"}  # writes, and a schedule a prompt, only for another session


class Case(NamedTuple):
    """A call in the words of the specification."""

    action: str
    mode: str
    whose: str
    loosens: bool = False
    for_another: bool = True
    allowed: frozenset[str] = frozenset()
    sent: int = 0

    @property
    def writes(self) -> bool:
        return self.action in WRITES or (self.action in WITH_SESSION and self.for_another)

    @property
    def prompts(self) -> bool:
        return self.action in PROMPTS or (self.action == "schedule" and self.for_another)


def _write(case: Case) -> Write:
    ways: dict[str, Any] = {"a command": "command", "a function": "callable"}
    return Write(
        action=case.action,
        is_write=case.writes,
        is_prompt=case.prompts,
        mode=case.mode,  # type: ignore[arg-type]
        names_session=case.for_another,
        started_here=case.whose == "started here",
        runs=ways.get(case.whose, "acp"),
        loosens=case.loosens,
        standing=frozenset(each for each in STANDING if each in case.allowed),
        prompts_unasked=case.sent,
    )


def _oracle(case: Case) -> set[str]:
    """What the specification wants a card for, sentence by sentence."""
    rows: set[str] = set()
    first = {"create_session": ("first create", "create"), "subscribe": ("first subscribe", "subscribe")}
    if case.action in first and first[case.action][1] not in case.allowed:
        rows.add(first[case.action][0])  # "the first … of a conversation"
    if case.mode not in {"agent", "autopilot"}:
        if case.writes:
            rows.add("ask or plan")  # "any write action while the caller's turn is in mode ask or plan"
        if case.action in WITH_SESSION and case.for_another:
            rows.add("for another session")  # "a schedule or an ask for another session, in ask or plan"
    changes = case.action == "update_session" or (case.action == "send" and case.loosens)
    if changes and case.whose != "started here" and "settings" not in case.allowed:
        rows.add("settings of others")  # "on a session that this conversation did not start"
    if case.action == "transfer_subscriptions":
        rows.add("transfer")  # "that call, in every mode"
    if case.prompts and case.sent > 29:
        rows.add("loop guard")  # "at 30 the next needs a card in any mode"
    to_one = {"create_session", "send", "update_session", "answer_question", "schedule"}
    if case.action in to_one and case.whose in {"a command", "a function"}:
        rows.add("command")  # "a create, send, update, answer or schedule to a command or callable session"
    return rows


def _cases() -> Iterator[Case]:
    allowed = chain.from_iterable(combinations(STANDING, n) for n in range(len(STANDING) + 1))
    matrix = product(
        (row.name for row in ACTIONS.values()),
        MODES,
        WHOSE,
        (False, True),
        (False, True),
        [frozenset(each) for each in allowed],
        COUNTS,
    )
    for action, mode, whose, loosens, for_another, has, count in matrix:
        if not loosens or action == "send":
            yield Case(action, mode, whose, loosens, for_another, has, count)


def test_every_call_that_there_can_be_is_asked_about_as_the_specification_says() -> None:
    wrong = [(case, due(_write(case))) for case in _cases() if set(due(_write(case))) != _oracle(case)]
    assert wrong == []
    assert len(list(_cases())) > 20_000


ALLOWED: Final = frozenset({"create"})
SETTINGS: Final = frozenset({"settings"})
# fmt: off
SPOKEN: Final[tuple[tuple[Case, tuple[str, ...]], ...]] = (
    # the first create of a conversation, and every later one
    (Case("create_session", "agent",     "started here"),                          ("first create",)),
    (Case("create_session", "autopilot", "started here", allowed=ALLOWED),         ()),
    (Case("create_session", "ask",       "started here"),                ("first create", "ask or plan")),
    (Case("create_session", "plan",      "started here", allowed=ALLOWED),         ("ask or plan",)),
    # in agent and autopilot a write that the table does not list asks nobody
    (Case("send",            "agent",     "the owner's"),                          ()),
    (Case("answer_question", "autopilot", "another agent's"),                      ()),
    (Case("stop",            "agent",     "the owner's"),                          ()),
    (Case("archive",         "autopilot", "the owner's"),                          ()),
    # in ask and plan each does
    (Case("stop",            "plan",      "started here"),                         ("ask or plan",)),
    (Case("archive",         "ask",       "started here"),                         ("ask or plan",)),
    # who only reads asks nobody in any mode
    (Case("wait",            "ask",       "the owner's"),                          ()),
    (Case("read_session",    "plan",      "a command", sent=31),                  ()),
    # settings of a session that this conversation did not start
    (Case("send",           "agent", "the owner's",  loosens=True),                ("settings of others",)),
    (Case("send",           "agent", "started here", loosens=True),                ()),
    (Case("send",           "agent", "the owner's",  loosens=True, allowed=SETTINGS), ()),
    (Case("update_session", "agent", "another agent's"),                           ("settings of others",)),
    # the 31st prompt, whatever the mode
    (Case("send",           "agent", "started here", sent=29),                    ()),
    (Case("send",           "agent", "started here", sent=30),                    ("loop guard",)),
    (Case("create_session", "autopilot", "started here", allowed=ALLOWED, sent=30), ("loop guard",)),
    (Case("stop",           "agent", "started here", sent=31),                    ()),
    # commands in every mode
    (Case("send",            "autopilot", "a command"),                            ("command",)),
    (Case("answer_question", "agent",     "a function"),                           ("command",)),
    (Case("stop",            "agent",     "a command"),                            ()),
    # several at once
    (Case("send", "plan", "a command", loosens=True, sent=30),
     ("ask or plan", "settings of others", "loop guard", "command")),
    # of actions that are still to come
    (Case("subscribe",              "agent", "the owner's"),                       ("first subscribe",)),
    (Case("transfer_subscriptions", "autopilot", "the owner's"),                   ("transfer",)),
    (Case("schedule", "plan",  "the owner's"),             ("ask or plan", "for another session")),
    (Case("schedule", "plan",  "the owner's", for_another=False),                  ()),
    (Case("ask",      "ask",   "the owner's"),             ("ask or plan", "for another session")),
)
# fmt: on


@pytest.mark.parametrize(("case", "rows"), SPOKEN, ids=lambda each: str(each)[:60])
def test_the_table_as_a_person_reads_it(case: Case, rows: tuple[str, ...]) -> None:
    assert due(_write(case)) == rows
    assert _oracle(case) == set(rows), "the oracle reads it otherwise"


def test_the_words_of_the_actions_are_those_of_the_table_of_actions() -> None:
    always = {row.name for row in ACTIONS.values() if row.write == "always"}
    assert always == WRITES
    assert {row.name for row in ACTIONS.values() if row.prompt == "always"} == PROMPTS
    assert {row.name for row in ACTIONS.values() if row.write == "with session"} == WITH_SESSION


def test_there_is_one_row_for_each_name_in_the_order_of_the_specification() -> None:
    assert tuple(row.name for row in TABLE) == get_args(RowName)


@pytest.mark.parametrize(
    ("rows", "stands", "restarts_count"),
    [
        (("first create",), ("create",), False),
        (("ask or plan",), (), False),
        (("first subscribe",), ("subscribe",), False),
        (("settings of others",), ("settings",), False),
        (("transfer",), (), False),
        (("loop guard",), (), True),
        (("for another session", "command"), (), False),
        (("first create", "ask or plan", "loop guard"), ("create",), True),
        (("settings of others", "command"), ("settings",), False),
    ],
)
def test_allow_grants_what_each_of_its_rows_grants(
    rows: tuple[RowName, ...], stands: tuple[Standing, ...], restarts_count: bool
) -> None:
    assert granted(rows) == Grants(stands, restarts_count)


def test_deny_is_a_permission_only_where_a_settings_row_is_among_them() -> None:
    for row in TABLE:
        code = Code.PERMISSION if row.name == "settings of others" else Code.APPROVAL_DENIED
        assert denied_code((row.name,)) is code
        assert denied_code(("ask or plan", row.name)) is code


def test_only_first_creates_of_which_each_later_one_is_covered_share_a_card() -> None:
    assert can_be_shared(("first create",))
    for row in TABLE:
        assert not can_be_shared(("first create", row.name))
        assert can_be_shared((row.name,)) is (row.name == "first create")
