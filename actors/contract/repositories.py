"""Which repository a text names, and at which host: what may be cloned at all. Pure."""

import re
from collections.abc import Collection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from showcaller.actors.contract.foreign_text import quote_foreign

SHORT_FORMS_HOST: Final = "github.com"
"""Where owner/name is."""
_SHORT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_SCP: Final = re.compile(r"[A-Za-z0-9_.]+@(?P<host>[A-Za-z0-9_.][A-Za-z0-9_.-]*):(?!-)(?P<path>.+)", re.ASCII)
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?", re.ASCII)
_USER: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*", re.ASCII)
_ADDRESS: Final = re.compile(r"[A-Za-z0-9._~/:@+,=%-]+", re.ASCII)
"""Nothing in an address may mean one host to who checks it and another to who uses it."""
_PORTS: Final = {"https": 443, "ssh": 22}


class Repository(NamedTuple):
    """An address that git takes, and the host that it leads to: with its port, if that is not the usual."""

    url: str
    host: str


def read_repository(text: str) -> Repository:
    """Give what a repository's name stands for: https, ssh, ssh's short form, or owner/name.

    Raises:
        ValueError: it names none, or carries a password, which would be stored and shown.

    """
    if _SHORT.fullmatch(text):
        return Repository(f"https://{SHORT_FORMS_HOST}/{text}", SHORT_FORMS_HOST)
    if not _ADDRESS.fullmatch(text):
        raise _none(text)
    if not text.startswith(("https://", "ssh://")):
        short = _SCP.fullmatch(text)
        if short is None or not _HOST.fullmatch(short["host"].lower()):
            raise _none(text)
        return Repository(text, short["host"].lower())
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _none(text) from error
    if host is None or not _HOST.fullmatch(host) or port == 0 or len(parts.path) < 2:
        raise _none(text)
    is_https = parts.scheme == "https"
    if parts.password is not None or (is_https and parts.username is not None):
        raise ValueError(
            "a repository's address holds no user's name with https and no password: leave signing in to "
            "git's credential helper or to ssh's keys"
        )
    if parts.username is not None and not _USER.fullmatch(parts.username):
        raise _none(text)
    usual = port is None or port == _PORTS[parts.scheme]
    return Repository(text, host if usual else f"{host}:{port}")


def may_clone_from(repository: Repository, hosts: Collection[str]) -> bool:
    """Tell whether the owner allows the host of a repository; one with a port of its own is named with it."""
    return repository.host in hosts


def _none(text: str) -> ValueError:
    return ValueError(f"{quote_foreign(text, 80)} must be an https or ssh address, or owner/name")
