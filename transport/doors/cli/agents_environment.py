"""Commands of the owner refuse where an agent of a relay runs them: it acts by its own token or not."""

from collections.abc import Mapping
from typing import Final

from showcaller.transport.doors.agent_tokens import TOKEN_VARIABLE
from showcaller.transport.doors.agents_tree import is_below_a_worker
from showcaller.transport.doors.cli.exits import USAGE, CommandError

OPEN_TO_ALL: Final = frozenset({"completion"})
ACT_AS_AGENT: Final = frozenset({"call", "mcp"})
"""They act by the token of the environment, and without one as an external conversation."""


def check_owner(command: str, environment: Mapping[str, str], pid: int | None = None) -> None:
    """Refuse an owner's command in an agent's environment, and any other without the agent's token there.

    What tells such an environment is the token, a worker's mark, or such a mark on ``pid`` or a process above
    it; left out, that is this process's parent. Raises ``CommandError``.
    """
    has_token = bool(environment.get(TOKEN_VARIABLE))
    if command in OPEN_TO_ALL or (command in ACT_AS_AGENT and has_token):
        return
    if not has_token and not is_below_a_worker(environment, pid):
        return
    if command in ACT_AS_AGENT:
        raise CommandError(
            f"'showcaller {command}' acts as the agent inside of its session, and here its token is missing.",
            f"Run it with {TOKEN_VARIABLE} as it is in the environment of the session's agent.",
            USAGE,
        )
    raise CommandError(
        f"'showcaller {command}' is for the relay's owner, and this runs inside of an agent's session.",
        "An agent may use: showcaller call, showcaller mcp",
        USAGE,
    )
