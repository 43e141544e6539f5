"""What approval cards say: the specification's lines, and nothing that somebody else could forge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.relay.consent.card_text import (
    Shown,
    Target,
    card_detail,
    card_question,
    place_of,
    plain_or_quoted,
)
from showcaller.actors.relay.consent.table import RowName

TARGET = Target("ses_3f9c2a1e07bd", 'nightly "build"')


def test_the_first_create_says_the_two_lines_of_the_specification() -> None:
    shown = Shown("create_session", provider="claude", folder="/srv/me", is_default_folder=True)
    assert card_question(shown, ("first create",), 0).splitlines() == [
        "This agent wants to start sessions on this relay (claude, the default folder).",
        "Sessions it starts use this relay's accounts.",
    ]
    named = shown._replace(folder="/srv/pro ject", is_default_folder=False)
    assert "(claude, /srv/pro ject)" in card_question(named, ("first create",), 0)
    cloned = shown._replace(repo="owner/name", branch="main")
    assert "(claude, owner/name, branch main)" in card_question(cloned, ("first create",), 0)
    assert card_question(shown, ("ask or plan",), 0).startswith("This agent wants to start a session on")


def test_two_new_sessions_share_a_card_only_where_provider_and_place_are_the_same() -> None:
    shown = Shown("create_session", provider="claude", folder="/srv/me", text="x", mode="agent")
    assert place_of(shown) == place_of(shown._replace(text="y", mode="plan", is_default_folder=True))
    cloned = shown._replace(folder=None, repo="https://example.com/a", branch=None)
    others = [
        shown._replace(provider="codex"),
        shown._replace(folder="/srv/you"),
        cloned,
        cloned._replace(repo="https://example.com/b"),
        cloned._replace(branch="main"),
    ]
    assert len({place_of(each) for each in (shown, *others)}) == 6


def test_the_details_stand_in_one_line_and_the_prompts_start_below() -> None:
    shown = Shown(
        "create_session",
        provider="claude",
        model="gpt-5.4",
        mode="agent",
        effort="high",
        folder="/srv/x",
        group=("Release 2.4", "grp_000000000001"),
        text="x" * 201,
    )
    settings, prompt = card_detail(shown, ("first create",)).splitlines()
    assert settings == (
        "Mode: agent · Provider: claude · Model: gpt-5.4 · Effort: high · Folder: /srv/x · "
        "Group: Release 2.4 (grp_000000000001)"
    )
    assert prompt == f'Prompt: "{"x" * 200}" (the first 200 of 201)'


def test_a_command_is_shown_whole() -> None:
    text = "echo 1\n" * 5_000 + "rm -rf /"
    shown = Shown("send", target=TARGET, provider="command", text=text)
    detail = card_detail(shown, ("command",))
    assert detail.endswith('rm -rf /"')
    assert detail.count("echo 1\\n") == 5_000
    assert len(detail.splitlines()) == 2


@pytest.mark.parametrize(
    ("shown", "rows", "said"),
    [
        (Shown("send", TARGET), ("ask or plan",), 'send a prompt to session 3f9c2a1e "nightly \\"build\\"".'),
        (Shown("stop", TARGET), ("ask or plan",), "stop session 3f9c2a1e"),
        (Shown("archive", TARGET), ("ask or plan",), "archive session 3f9c2a1e"),
        (
            Shown("answer_question", TARGET, question="Which\none?"),
            ("ask or plan",),
            'answer the question "Which\\none?" of session 3f9c2a1e',
        ),
        (
            Shown("send", TARGET, mode="autopilot"),
            ("settings of others",),
            "loosened to autopilot; Allow cov",
        ),
        (Shown("send", TARGET), ("loop guard",), "has sent 30 prompts to other agents with no word from you"),
    ],
)
def test_a_card_names_what_will_happen(shown: Shown, rows: tuple[RowName, ...], said: str) -> None:
    assert said in card_question(shown, rows, 30)


def test_one_card_tells_the_facts_of_all_its_rows() -> None:
    rows: tuple[RowName, ...] = ("ask or plan", "settings of others", "loop guard", "command")
    shown = Shown("send", TARGET, provider="command", mode="autopilot", text="ls")
    lines = card_question(shown, rows, 31).splitlines()
    assert len(lines) == 3
    assert "31 prompts" in lines[2]
    assert card_detail(shown, rows).splitlines() == ["Mode: autopilot · Provider: command", 'Prompt: "ls"']


@given(st.text(max_size=400))
def test_nothing_foreign_adds_a_line_or_reads_as_ours(text: str) -> None:
    shown = Shown(
        "create_session",
        target=Target(TARGET.id, text),
        provider=text,
        model=text,
        folder=text,
        group=(text, "grp_000000000001"),
        title=text,
        text=text,
        question=text,
    )
    for action in ("create_session", "send", "answer_question"):
        lines = card_question(shown._replace(action=action), ("first create",), 0).splitlines()
        assert len(lines) == (2 if action == "create_session" else 1)
        assert len(card_detail(shown._replace(action=action), ("first create",)).splitlines()) == 2


@given(st.text(max_size=400))
def test_what_could_be_ours_is_quoted(text: str) -> None:
    shown = plain_or_quoted(text)
    if shown == text:
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set('·:"()|\\')
    else:
        assert shown[0] == shown[-1] == '"'
