"""``showcaller inbox`` and ``answer``: what a person sees, types, and what the shell hears."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from showcaller.transport.doors.cli import cards, questions
from showcaller.transport.doors.cli.commands import answer
from showcaller.transport.doors.cli.commands import inbox as inbox_command
from showcaller.transport.doors.cli.exits import NOT_FOUND, CommandError, refused
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.http.whereabouts import Whereabouts
from tests.transport.doors.cli.conftest import ShowCaller
from tests.transport.doors.cli.fake import FakeRelay

CARD = "q_3f9c2a1e07bd"
OTHER = "q_3f9d00000000"


def item(card: str, **more: Any) -> dict[str, Any]:
    """A question that waits."""
    return {
        "id": card,
        "kind": "permission",
        "session": "ses_aaaaaaaaaaaa",
        "title": "Nightly\x1b[31m",
        "question": "Run the tests?",
        "detail": "make test\nmake lint",
        "options": [
            {"id": "1", "label": "Allow", "kind": "allow_once"},
            {"id": "2", "label": "Reject", "kind": "reject_once"},
        ],
        "multiSelect": False,
        "allowFreeform": False,
        "askedAt": "2026-11-30T10:00:00.000Z",
        **more,
    }


class FakeInbox:
    """A running relay of which only the inbox is asked."""

    def __init__(self) -> None:
        self.items = [item(CARD), item(OTHER, kind="ask_user", question="Which?", allowFreeform=True)]
        self.asked: list[tuple[str, str, Any]] = []
        self.refusal: CommandError | None = None

    def ask(self, door: Door, method: str, path: str, body: Any = None) -> Mapping[str, Any]:
        self.asked.append((method, path, body))
        if self.refusal is not None:
            raise self.refusal
        if method == "POST":
            named = path.split("/")[3]
            status = "dismissed" if body["dismiss"] else "answered"
            return {"ok": True, "relay": "desk", "summary": "…", "question_id": named, "status": status}
        if "cursor" in path:
            return {"items": self.items[1:]}
        return {"items": self.items[:1], "nextCursor": "more"}


@pytest.fixture
def inbox(monkeypatch: pytest.MonkeyPatch) -> FakeInbox:
    fake = FakeInbox()
    monkeypatch.setattr(cards, "ask_running", fake.ask)
    monkeypatch.setattr(answer, "ask_running", fake.ask)
    monkeypatch.setattr(questions, "running_relay", lambda home: Whereabouts.of_this_process(1, "1.2.3"))
    return fake


@pytest.mark.usefixtures("inbox")
def test_what_waits_is_shown_with_its_options_and_how_to_answer(showcaller: ShowCaller) -> None:
    ended = showcaller("inbox")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].startswith(f"{CARD}  permission  2026-11-30 ")
    assert "\x1b" not in ended.out
    assert lines[1:7] == [
        "  Run the tests?",
        "    make test",
        "    make lint",
        "  - Allow",
        "  - Reject",
        f"  To answer: showcaller answer {CARD} Allow",
    ]
    assert lines[-1].endswith("(or --text ...)")


@pytest.mark.usefixtures("inbox")
def test_json_has_the_items_of_all_pages(showcaller: ShowCaller) -> None:
    items = json.loads(showcaller("inbox", "--json").out)["items"]
    assert [one["id"] for one in items] == [CARD, OTHER]
    assert {"id", "kind", "session", "question", "options", "askedAt"} <= items[0].keys()


def test_an_empty_inbox_says_so(showcaller: ShowCaller, inbox: FakeInbox) -> None:
    inbox.items = []
    inbox.refusal = None
    ended = showcaller("inbox")
    assert (ended.code, ended.out, "Nothing waits for an answer." in ended.err) == (0, "", True)


def test_who_watches_is_told_of_each_question_once(
    showcaller: ShowCaller, relay: FakeRelay, inbox: FakeInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = item("q_zzzzzzzzzzzz")

    def answers(*_: object) -> Iterator[Mapping[str, Any]]:
        yield {}
        inbox.items = [later, *inbox.items[1:]]
        yield {}
        raise KeyboardInterrupt

    monkeypatch.setattr(inbox_command, "followed", answers)
    ended = showcaller("inbox", "--watch", "--json")
    assert ended.code == 130
    assert [json.loads(line)["id"] for line in ended.out.splitlines()] == [OTHER, CARD, later["id"]]
    del relay


@pytest.mark.parametrize("named", [CARD, "3f9c2a1e07bd", "3f9c2", "q_3f9c"])
def test_a_card_is_answered_by_its_id_or_how_that_begins(
    showcaller: ShowCaller, inbox: FakeInbox, named: str
) -> None:
    ended = showcaller("answer", named, "allow")
    assert (ended.code, f"{CARD}: answered" in ended.err) == (0, True), ended
    assert inbox.asked[-1] == (
        "POST",
        f"/api/cards/{CARD}/answer",
        {"choices": ["allow"], "dismiss": False},
    )


def test_free_text_comes_from_the_line_or_from_standard_input(
    showcaller: ShowCaller, inbox: FakeInbox
) -> None:
    assert showcaller("answer", OTHER, "--text", " as it is ", "--json").out == (
        f'{{"question_id":"{OTHER}","status":"answered"}}\n'
    )
    assert inbox.asked[-1][2] == {"choices": [], "dismiss": False, "answer": " as it is "}


def test_a_card_is_dismissed(showcaller: ShowCaller, inbox: FakeInbox) -> None:
    assert "dismissed" in showcaller("answer", CARD, "--dismiss").err
    assert inbox.asked[-1][2] == {"choices": [], "dismiss": True}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((CARD,), "Give a CHOICE"),
        ((CARD, "Allow", "--dismiss"), "not both"),
        ((CARD, "--text", "x", "--dismiss"), "not both"),
        ((), "Missing argument"),
    ],
)
def test_a_line_that_says_nothing_or_too_much_is_a_wrong_one(
    showcaller: ShowCaller, inbox: FakeInbox, words: tuple[str, ...], told: str
) -> None:
    ended = showcaller("answer", *words)
    assert (ended.code, told in ended.err, inbox.asked) == (2, True, [])


@pytest.mark.parametrize(
    ("named", "code", "told"),
    [("3f9", 2, "can mean several questions"), ("zzzz", 3, "showcaller inbox"), ("3", 2, CARD)],
)
@pytest.mark.usefixtures("inbox")
def test_a_beginning_that_names_no_card_or_several_is_refused(
    showcaller: ShowCaller, named: str, code: int, told: str
) -> None:
    ended = showcaller("answer", named, "Allow")
    assert (ended.code, told in ended.err) == (code, True), ended


def test_cards_of_the_same_text_are_told_apart_by_time_and_conversation(
    showcaller: ShowCaller, inbox: FakeInbox
) -> None:
    asked = "May it start?\nThe default folder."
    inbox.items = [
        item(CARD, title="Nightly", question=asked, kind="approval"),
        item(OTHER, title="By day", question=asked, kind="approval", askedAt="2026-11-30T11:00:00.000Z"),
    ]
    ended = showcaller("answer", "3f9", "Allow")
    assert (ended.code, "\\n" in ended.err) == (2, False), ended
    first, second = ended.err.splitlines()[-2:]
    for line, card, title in ((first, CARD, "Nightly"), (second, OTHER, "By day")):
        assert line.split()[0] == card
        assert line.endswith(f"approval  {title}  May it start?")
    shown = showcaller("inbox").out.splitlines()
    assert shown[1:3] == ["  May it start?", "  The default folder."]


def test_a_beginning_that_is_too_short_is_told_how_short_it_may_be(
    showcaller: ShowCaller, inbox: FakeInbox
) -> None:
    inbox.items = [item(CARD), item("q_zzzzzzzzzzzz")]
    ended = showcaller("answer", "3f9", "Allow")
    assert (ended.code, "at least 4 characters after q_" in ended.err) == (3, True), ended
    assert showcaller("answer", "3f9c", "Allow").code == 0


@pytest.mark.parametrize(
    ("refusal", "code"), [("REMOTE_RELAY_ALREADY_ANSWERED", 1), ("REMOTE_RELAY_NOT_FOUND", 3)]
)
def test_a_refusal_is_told_with_its_exit_code(
    showcaller: ShowCaller, inbox: FakeInbox, refusal: str, code: int
) -> None:
    inbox.refusal = refused({"code": refusal, "error": "So it is."})
    ended = showcaller("answer", CARD, "Allow")
    assert (ended.code, "So it is." in ended.err) == (code, True)
    assert ("To see what waits: showcaller inbox" in ended.err) is (code == 3)


def test_a_shell_completes_cards_and_choices(
    showcaller: ShowCaller, inbox: FakeInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_SHOWCALLER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "showcaller answer q_")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert showcaller().out == f"plain,{CARD}\nplain,{OTHER}\n"
    monkeypatch.setenv("COMP_WORDS", f"showcaller answer {CARD} re")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert showcaller().out == "plain,Reject\n"
    inbox.refusal = CommandError("No relay runs.", code=NOT_FOUND)
    assert showcaller().out.strip() == ""
