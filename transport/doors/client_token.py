"""The token of a client that the relay has not started: read from the data folder, or had made by the relay.

The standard library alone, for the bridge between an MCP client and the relay, which has to start at once.
"""

import json
import shlex
from pathlib import Path
from typing import Any, Final

from showcaller.actors.contract.token_names import check_token_name
from showcaller.transport.doors import holder
from showcaller.transport.doors.start_error import RelayStartError
from showcaller.transport.doors.stdio.posting import Post, RelayLost
from showcaller.transport.doors.token_making import (
    FOLDER,
    TokenInMaking,
    alone,
    keep_token,
    kept_token,
    secret_in,
)
from showcaller.transport.ordinary_files import read_ordinary
from showcaller.transport.worker.process_identity import ProcessIdentity, is_alive

HOST: Final = "127.0.0.1"
SECONDS: Final = 30.0
"""Seconds that the relay has to make a token."""

VARIABLE: Final = "SHOWCALLER_TOKEN"
UNAVAILABLE: Final = "REMOTE_RELAY_UNAVAILABLE"
INVALID_INPUT: Final = "REMOTE_RELAY_INVALID_INPUT"
_MARKS: Final = str.maketrans("", "", "-_.")
_START: Final = "Start one with: showcaller serve"


class TokenRefused(RelayStartError):
    """The relay that runs lets a client have no token: to ask once more changes nothing."""


def told_token(value: str) -> str:
    """Give the token that stands in the environment, without the blanks and line ends around it.

    Raises ``TokenRefused`` for what can be none: it would break the head of a request.
    """
    token = value.strip()
    if not token.isascii() or not token.translate(_MARKS).isalnum():
        raise TokenRefused(
            f"What {VARIABLE} holds is no token: one is of letters, digits, dashes, dots and underscores.",
            "Set it as it was made, or unset it to come in by a name (--name).",
        )
    return token


def external_token(home: Path, name: str) -> str:
    """Give the token of the client of this name, from its file, or have the running relay make one.

    Raises ``RelayStartError``: the name cannot be one, a file is not as it must be, or no relay runs; as
    ``TokenRefused`` where the relay makes none, as after its owner has revoked the last of the name.
    """
    _check(name)
    path = home / FOLDER / name
    kept = kept_token(path)
    if kept is not None:
        return kept
    return renew_external_token(home, name, None)


def renew_external_token(home: Path, name: str, refused: str | None) -> str:
    """Have the running relay make a token in the place of one that it refused, and keep it.

    When somebody else has replaced that one in its file meanwhile, theirs is given; a token of the name that
    is in force elsewhere stays. Raises as ``external_token``.
    """
    _check(name)
    path = home / FOLDER / name
    port = relay_port(home)
    if port is None:
        raise RelayStartError(f"No relay runs on {home}, so {name!r} gets no token.", _START)
    with alone(home):
        kept = kept_token(path)
        if kept is not None and kept != refused:
            return kept
        making = TokenInMaking(home, "external", name)
        _make(home, port, name, making)
        keep_token(path, making.token)
        making.done()
    return making.token


def forget_external_token(home: Path, name: str) -> None:
    """Remove the file of a token that is of no use any more; harmless when there is none."""
    _check(name)
    (home / FOLDER / name).unlink(missing_ok=True)


def relay_port(home: Path) -> int | None:
    """Give the port on which the relay of this data folder listens; None when none does.

    What one has left that was killed counts only while that very process is alive: the port may be
    somebody else's by now.
    """
    for file in ("relay.json", holder.FILE):
        try:
            content = read_ordinary(home / file, holder.LIMIT)
            told = json.loads(holder.told_in(content) if file == holder.FILE else content)
            pid, started, port = told["pid"], told["process_started"], told["port"]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
        if not (_is_number(pid, 2**31 - 1) and _is_number(port, 65_535)):
            continue
        if (started is None or isinstance(started, int)) and is_alive(ProcessIdentity(pid, started)):
            return int(port)
    return None


def _is_number(value: object, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= highest


def _check(name: str) -> None:
    try:
        check_token_name(name)
    except ValueError as error:
        raise RelayStartError(f"A client cannot be called {name!r}: the name {error}.", "") from error


def _make(home: Path, port: int, name: str, making: TokenInMaking) -> None:
    """Have the relay make the token, as its owner."""
    try:
        owners = secret_in(home / "token")
    except FileNotFoundError as error:
        raise RelayStartError(
            f"The owner's token is missing in {home}, so its relay cannot be asked for one for {name!r}.",
            "Stop that relay and start it again, which makes another.",
        ) from error
    wanted = {"kind": "external", "name": name, "by_client": True}
    while True:
        answer = _asked(home, port, owners, wanted | {"hash": making.hash})
        if answer.get("ok") is True:
            return
        if answer.get("code") != INVALID_INPUT or not making.refused():
            break
    if answer.get("code") == INVALID_INPUT:  # the name was checked, so what it says is: taken
        anew = ["showcaller", "tokens", "new", "--name", name, "--replace", "--keep"]
        raise TokenRefused(
            f"The name {name!r} is taken by a token that is in force and not in {home / FOLDER}.",
            "Take another name (--name), or give that token in SHOWCALLER_TOKEN; if nobody has it any "
            f"more: {shlex.join(anew)}",
        )
    why = str(answer.get("error", "it gave no answer"))
    told = f"The relay on {home} makes no token for {name!r}: {why}"
    if answer.get("code") in {None, UNAVAILABLE}:  # it may have made it, or may yet
        raise RelayStartError(told, "")
    making.done()
    raise TokenRefused(told, "")


def _asked(home: Path, port: int, token: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    try:
        post = Post(port, json.dumps(body).encode(), headers, path="/api/tokens", seconds=SECONDS)
        try:
            return next(post.messages(), {})
        finally:
            post.close()
    except RelayLost as error:
        raise RelayStartError(f"The relay on {home} did not make a token: {error}.", "Try again.") from error
