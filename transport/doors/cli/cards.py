"""Cards as the commands find and complete them: the running relay's inbox."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import click
from click.shell_completion import CompletionItem

from showcaller.transport.doors.cli.candidates import Candidate
from showcaller.transport.doors.cli.exits import NOT_FOUND, CommandError, several
from showcaller.transport.doors.cli.home import data_folder
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import ask_running
from showcaller.transport.doors.cli.times import local_time
from showcaller.transport.doors.cli.visible import visible

Item = Mapping[str, Any]
PAGE: Final = 1000
SHORTEST: Final = 4
"""Characters of an id, after its prefix, that name a card at least."""
_WHOLE: Final = len("q_") + 12


def waiting_cards(door: Door) -> list[Item]:
    """Give all that waits for an answer, newest first; raises ``CommandError``."""
    found: list[Item] = []
    more: dict[str, Any] = {"limit": PAGE}
    while True:
        page = ask_running(door, "GET", f"/api/inbox?{urlencode(more)}")
        found += page["items"]
        if page.get("nextCursor") is None:
            return found
        more["cursor"] = page["nextCursor"]


def card_id(door: Door, name: str) -> str:
    """Give the id of the card that a name means: the whole, or how it begins; raises ``CommandError``."""
    wanted = name.strip()
    start = wanted if wanted.startswith("q_") else f"q_{wanted}"
    if len(start) >= _WHOLE or "_" in start[2:]:
        return wanted if "_" in wanted else start
    found = [item for item in waiting_cards(door) if str(item["id"]).startswith(start)]
    if len(found) == 1 and len(start) >= len("q_") + SHORTEST:
        return str(found[0]["id"])
    if len(found) > 1:
        raise several(name, "questions", [_candidate(item) for item in found])
    needed = f"Of an id, at least {SHORTEST} characters after q_ are needed. " if found else ""
    raise CommandError(
        f"No question that waits is named {name!r}.",
        f"{needed}To see what waits: {door.command_line('inbox')}",
        NOT_FOUND,
    )


def _candidate(item: Item) -> Candidate:
    """Give what tells a card from others that ask the same: when, and in which conversation."""
    asked = str(item["question"]).strip().split("\n", 1)[0]
    return (str(item["id"]), local_time(str(item["askedAt"])), str(item["kind"]), str(item["title"]), asked)


def complete_card(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the id of a card that waits."""
    del parameter
    return [
        CompletionItem(item["id"], help=visible(str(item["question"]))[:60])
        for item in _known(ctx)
        if str(item["id"]).startswith(begun)
    ]


def complete_choice(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a choice of the card that the line names."""
    del parameter
    card = str(ctx.params.get("card") or "")
    options = [option for item in _known(ctx) if item["id"] == card for option in item.get("options", ())]
    labels = [visible(str(option["label"])) for option in options]
    return [CompletionItem(label) for label in labels if label.casefold().startswith(begun.casefold())]


def _known(ctx: click.Context) -> Sequence[Item]:
    door = ctx.find_object(Door)
    if door is None:
        named = ctx.find_root().params.get("home")
        door = Door(data_folder(named), named, _opens_nothing)
    try:
        return waiting_cards(door)
    except CommandError:  # a shell that completes shows no errors
        return ()


def _opens_nothing(*_: object, **__: object) -> Any:
    raise NotImplementedError("completing opens no relay")
