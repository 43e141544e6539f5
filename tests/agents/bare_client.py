"""An ACP client and nothing more: what an agent does without a relay between."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import acp
from acp.interfaces import Agent, Client
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    Implementation,
    InitializeResponse,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)

LINE = 64 * 1024 * 1024


class BareClient:
    """Keeps what an agent tells, and answers its permission requests with the first option of a kind."""

    def __init__(self, allows: str | None = "allow_once") -> None:
        self.updates: list[Any] = []
        self.permissions: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.changed = asyncio.Condition()
        self._allows = allows

    @property
    def text(self) -> str:
        """What the agent has said up to now."""
        return "".join(
            update.content.text
            for update in self.updates
            if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock)
        )

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self.changed:
            self.updates.append(update)
            self.changed.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.permissions.append((tool_call, options))
        chosen = next((option for option in options if option.kind == self._allows), None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        )

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        pass

    def on_connect(self, conn: Agent) -> None:
        pass


class BareAgent:
    """An agent process with a connection to it, and what its handshake gave."""

    def __init__(self, process: asyncio.subprocess.Process, client: BareClient, errors: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.client = client
        self.errors = errors
        self.connection = acp.connect_to_agent(cast(Client, client), process.stdin, process.stdout)
        self.handshake: InitializeResponse | None = None

    async def shake_hands(self) -> InitializeResponse:
        """Say who we are and learn who it is."""
        handshake: InitializeResponse = await self.connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="bare", version="1"),
        )
        self.handshake = handshake
        return handshake

    async def prompt(self, session: str, text: str) -> PromptResponse:
        """Run one turn."""
        end: PromptResponse = await self.connection.prompt(session_id=session, prompt=[acp.text_block(text)])
        return end


@asynccontextmanager
async def bare_agent(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    client: BareClient | None = None,
) -> AsyncGenerator[BareAgent]:
    """Start an agent in a process group of its own, which is gone after the ``async with``."""
    errors = folder / "agent-stderr.log"
    with errors.open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=dict(environment),
            cwd=folder,
            limit=LINE,
            start_new_session=True,
        )
    agent = BareAgent(process, client or BareClient(), errors)
    try:
        yield agent
    finally:
        await agent.connection.close()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
