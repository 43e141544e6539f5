"""``showcaller call``: one raw call of the tool, as an external client or as the agent that runs it."""

import json
import os
import sys
from typing import Any

import click

from showcaller.actors.contract.limits import CALL_BYTES
from showcaller.transport.doors.agent_tokens import TOKEN_VARIABLE
from showcaller.transport.doors.cli.client_names import CLIENT_NAME
from showcaller.transport.doors.cli.exits import FAILED, GOOD, CommandError
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.output import json_line, write
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.running import absent
from showcaller.transport.doors.client_token import (
    HOST,
    TokenRefused,
    external_token,
    relay_port,
    renew_external_token,
    told_token,
)
from showcaller.transport.doors.start_error import RelayStartError

UNAUTHENTICATED = "REMOTE_RELAY_UNAUTHENTICATED"


@click.command(
    "call",
    cls=Command,
    help="""Call the tool of the running relay and write its result.

JSON is the call, or - for standard input. The call comes from a conversation of
its own, which --name names; inside of an agent's session, from that agent. A
session that it creates without "cwd" works in the folder where the relay was
started, not in this one. Ends with 0 when it was carried out, and with 1 when
it was refused.

\b
Examples:
  showcaller call '{"action": "list_relays"}'
  showcaller call - --name my-script --id order-17 < call.json
""",
)
@click.argument("call", metavar="JSON")
@click.option(
    "--name",
    type=CLIENT_NAME,
    metavar="NAME",
    default="cli",
    show_default=True,
    help="The conversation that it comes from.",
)
@click.option("--id", "key", help="Makes a repeat of a write harmless.")
@click.option("--json", "as_json", is_flag=True, help="Nothing else is ever written; for habit.")
@home_option
@click.pass_obj
def command(door: Door, call: str, name: str, key: str | None, as_json: bool) -> int:
    """Carry out one call and give the exit code."""
    del as_json
    if key is not None and not (key.isascii() and key.isprintable()):
        raise click.UsageError("--id takes printable ASCII characters.")
    text = (sys.stdin.buffer.read(CALL_BYTES + 1) if call == "-" else os.fsencode(call))[: CALL_BYTES + 1]
    own = os.environ.get(TOKEN_VARIABLE)
    token = _client(door, name, None) if not own else _told(own)
    result = _asked(door, token, text, key)
    if not own and result.get("code") == UNAUTHENTICATED:  # another's took its place, or it was revoked
        result = _asked(door, _client(door, name, token), text, key)
    write(json_line(result))
    return GOOD if result.get("ok") else FAILED


def _told(own: str) -> str:
    try:
        return told_token(own)
    except TokenRefused as error:
        raise CommandError(error.message, error.way_out, refusal=UNAUTHENTICATED) from error


def _client(door: Door, name: str, refused: str | None) -> str:
    try:
        if refused is None:
            return external_token(door.home, name)
        return renew_external_token(door.home, name, refused)
    except RelayStartError as error:
        if relay_port(door.home) is None:
            raise absent(door) from error
        code = UNAUTHENTICATED if isinstance(error, TokenRefused) else None
        raise CommandError(error.message, error.way_out, refusal=code) from error


def _asked(door: Door, token: str, text: bytes, key: str | None) -> dict[str, Any]:
    import httpx

    port = relay_port(door.home)
    if port is None:
        raise absent(door)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    if key is not None:
        headers["idempotency-key"] = key
    try:
        answer = httpx.post(
            f"http://{HOST}:{port}/api/call",
            content=text,
            headers=headers,
            timeout=httpx.Timeout(None, connect=5.0),
            trust_env=False,
        )
        result: dict[str, Any] = json.loads(answer.content)
    except (httpx.HTTPError, ValueError) as error:
        raise CommandError(
            f"The relay on {door.home} does not answer: {type(error).__name__}.",
            "See what came of the call before it is repeated; with --id a repeat is harmless.",
        ) from error
    return result
