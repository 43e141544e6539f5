"""Arguments that name something: a relay, a session, a group, a repository, a branch."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from showcaller.actors.contract.arguments.texts import line, text_of
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import SHORTEST, session_start

NO_GROUP: Final = "none"
"""What names no group."""
_REPOSITORY: Final = re.compile(
    r"(?:https://|ssh://(?!-))[^\s/-][^\s]*"  # a URL; a host that begins with a dash is an option to ssh
    r"|[A-Za-z0-9_.]+@[A-Za-z0-9_.][A-Za-z0-9_.-]*:(?!-)[^\s]+"  # ssh's short form, user@host:path
    r"|[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*"  # owner/name
)


def _relay(value: object) -> str:
    text = line(255)(value)
    return "this" if text.lower() == "this" else text


def session_name(value: object) -> str:
    """Take a value as the name of a session: its id, or six or more of its characters.

    Raises:
        ValueError: for what can name none.

    """
    text = text_of(value).strip()
    start = session_start(text)
    if start is None:
        raise ValueError(
            f"{quote_foreign(text, 80)} is no session id; give ses_ and its 12 characters, or {SHORTEST} or "
            "more of them from the first on. list_sessions lists the ids"
        )
    return start


def is_group_id(text: str) -> bool:
    """Tell whether a text can only be meant as the id of a group, whether or not there is one of it."""
    return text.casefold().startswith("grp_")


def group_name(value: object) -> str:
    """Take a value as a group's name; raises ``ValueError`` for what would be taken for something else."""
    text = line(200)(value)
    if not text or text.casefold() == NO_GROUP or is_group_id(text):
        raise ValueError(
            f"{quote_foreign(text, 80)} is no name for a group: it would be taken for none, or for an id"
        )
    return text


def _repository(text: str) -> str:
    if not _REPOSITORY.fullmatch(text):
        raise ValueError(f"{quote_foreign(text, 80)} must be an https or ssh address, or owner/name")
    return text


def _branch(text: str) -> str:
    if text.startswith("-") or " " in text:
        raise ValueError(f"{quote_foreign(text, 80)} must be the name of a branch")
    return text


def _subscription(value: object) -> str:
    text = line(64)(value)
    return "all" if text.lower() == "all" else text


RelayName = Annotated[str, Field(max_length=255), BeforeValidator(_relay)]
SessionName = Annotated[str, Field(max_length=16), BeforeValidator(session_name)]
GroupName = Annotated[str, Field(max_length=200), BeforeValidator(group_name)]
SubscriptionName = Annotated[str, Field(max_length=64), BeforeValidator(_subscription)]
Repository = Annotated[str, Field(max_length=1000), AfterValidator(_repository), BeforeValidator(line(1000))]
Branch = Annotated[str, Field(max_length=200), AfterValidator(_branch), BeforeValidator(line(200))]
