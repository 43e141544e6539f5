"""What an approval card says: what will happen, with what, and the start of the prompt. Pure.

What comes from elsewhere is shown as it is only where it can be taken for nothing of ours, else quoted.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.summaries import SHORT_ID
from showcaller.actors.relay.consent.table import Rows

PROMPT_START: Final = 200
"""Characters of a prompt that a card shows, where it does not show the whole."""
_LONGEST_ESCAPE: Final = 10
_NAMED: Final = 5
"""Sessions that a card names, of all that would be watched."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9 ._/~+@-]{0,199}")
ACCOUNTS: Final = "Sessions it starts use this relay's accounts."


class Target(NamedTuple):
    """The session that a call is about."""

    id: str
    title: str


class Shown(NamedTuple):
    """A call as its card shows it: what would be carried out, with all that was found for it.

    ``folder`` is where a new session works, ``is_default_folder`` that nobody named it; ``group`` has name
    and id, or ``new`` in its place; ``further`` are settings that only updates change. ``text`` is the prompt
    or the answer, ``question`` what is answered. ``watched`` are the sessions that a subscription names, none
    for every one, and ``options`` what else it says. What is None does not belong to the call, or is left as
    it is.
    """

    action: str
    target: Target | None = None
    provider: str | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    folder: str | None = None
    is_default_folder: bool = False
    repo: str | None = None
    branch: str | None = None
    group: tuple[str, str] | None = None
    leaves_group: bool = False
    further: tuple[tuple[str, str], ...] = ()
    title: str | None = None
    text: str | None = None
    question: str | None = None
    watched: tuple[Target, ...] = ()
    options: tuple[str, ...] = ()


def card_question(shown: Shown, rows: Rows, prompts_unasked: int) -> str:
    """Give the lines that say what will happen, and what else *Allow* is about."""
    return "\n".join(_question(shown, rows, prompts_unasked))


def card_detail(shown: Shown, rows: Rows) -> str:
    """Give what is said beside it: with what it will happen, and the prompt; "" when there is nothing."""
    return "\n".join(_detail(shown, whole="command" in rows))


def place_of(shown: Shown) -> str:
    """Give what is alike for two new sessions that are of one provider and work in one place."""
    return json.dumps([shown.provider, shown.folder, shown.repo, shown.branch])


def _question(shown: Shown, rows: Rows, prompts_unasked: int) -> Iterator[str]:
    yield f"This agent wants to {_what(shown, rows)}."
    if shown.action == "create_session":
        yield ACCOUNTS
    if "settings of others" in rows:
        loosened = "" if shown.action != "send" else f", whose mode would be loosened to {shown.mode}"
        yield (
            f"It did not start that session{loosened}; Allow covers its later changes of settings of such "
            "sessions too."
        )
    if "first subscribe" in rows:
        yield "It is woken by what happens there. Allow covers what it subscribes to later too."
    if "loop guard" in rows:
        yield f"It has sent {prompts_unasked} prompts to other agents with no word from you in between."


def _what(shown: Shown, rows: Rows) -> str:
    session = "a session" if shown.target is None else _session(shown.target)
    match shown.action:
        case "create_session":
            many = "sessions" if "first create" in rows else "a session"
            return f"start {many} on this relay ({_place(shown)})"
        case "send":
            return f"send a prompt to {session}"
        case "update_session":
            return f"change settings of {session}"
        case "answer_question":
            question = "" if shown.question is None else f" {quote_foreign(shown.question)}"
            return f"answer the question{question} of {session}"
        case "subscribe":
            return f"watch {_watched(shown.watched)}"
        case _:
            return f"{shown.action.replace('_', ' ')} {session}"


def _watched(targets: tuple[Target, ...]) -> str:
    if not targets:
        return "every session of this relay, now and later"
    named = ", ".join(f"{each.id[SHORT_ID]} {quote_foreign(each.title)}" for each in targets[:_NAMED])
    more = f" and {len(targets) - _NAMED} more" if len(targets) > _NAMED else ""
    return f"session {named}" if len(targets) == 1 else f"sessions {named}{more}"


def _session(target: Target) -> str:
    return f"session {target.id[SHORT_ID]} {quote_foreign(target.title)}"


def _place(shown: Shown) -> str:
    provider = plain_or_quoted(shown.provider or "")
    if shown.repo is not None:
        branch = "" if shown.branch is None else f", branch {plain_or_quoted(shown.branch)}"
        return f"{provider}, {plain_or_quoted(shown.repo)}{branch}"
    if shown.is_default_folder or shown.folder is None:
        return f"{provider}, the default folder"
    return f"{provider}, {plain_or_quoted(shown.folder)}"


def _detail(shown: Shown, *, whole: bool) -> Iterator[str]:
    settings = " · ".join(_settings(shown))
    if settings:
        yield settings
    if shown.options:
        yield ", ".join(shown.options)
    if shown.text is not None:
        yield _prompt(shown, shown.text, whole=whole)


def _settings(shown: Shown) -> Iterator[str]:
    named = {
        "Mode": shown.mode,
        "Provider": shown.provider,
        "Model": shown.model,
        "Effort": shown.effort,
        "Folder": shown.folder,
        "Repository": shown.repo,
        "Branch": shown.branch,
    }
    for name, value in named.items():
        if value is not None:
            yield f"{name}: {plain_or_quoted(value)}"
    if shown.group is not None:
        name, group = shown.group
        yield f"Group: {plain_or_quoted(name)} ({group})"
    if shown.leaves_group:
        yield "Group: none"
    for name, value in shown.further:
        yield f"{name}: {plain_or_quoted(value)}"
    if shown.title is not None:
        yield f"Title: {quote_foreign(shown.title)}"


def _prompt(shown: Shown, text: str, *, whole: bool) -> str:
    name = "Answer" if shown.action == "answer_question" else "Prompt"
    if whole:
        return f"{name}: {quote_foreign(text, max(3, _LONGEST_ESCAPE * len(text) + 2))}"
    start = f"{name}: {quote_foreign(text[:PROMPT_START])}"
    return start if len(text) <= PROMPT_START else f"{start} (the first {PROMPT_START} of {len(text):,})"


def plain_or_quoted(text: str) -> str:
    """Give a text as it is where it can be nothing of ours, else quoted, escaped and within its length."""
    return text if _PLAIN.fullmatch(text) and not text.endswith(" ") else quote_foreign(text)
