"""What an agent asks of us within a session: permissions, questions, files and terminals."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any, Final

from acp import schema
from acp.exceptions import RequestError
from pydantic import BaseModel, TypeAdapter, ValidationError

from showcaller.transport.worker.acp.cards import Clock, OpenCards
from showcaller.transport.worker.acp.elicitations import CANCEL, question_card, user_answer
from showcaller.transport.worker.acp.files import FileRefusedError, allowed_path, read_text, write_text
from showcaller.transport.worker.acp.permissions import card_of, chosen_option
from showcaller.transport.worker.acp.terminals import ExitStatus, TerminalRefusedError, Terminals
from showcaller.transport.worker.command_call import SHELL

FORM_LIMIT: Final = 64 * 1024
"""Characters of a form's schema, as JSON."""
FORM_DEPTH: Final = 16
_ELICITATION: Final[TypeAdapter[Any]] = TypeAdapter(schema.CreateElicitationRequest)


class AgentRequests:
    """Answers the requests of one agent. ``folders`` are those that its files and terminals may be in.

    ``turn`` is the turn that runs and its clock, None between turns and once that turn is to stop: then
    nobody is asked anything.
    """

    def __init__(self, session: str, folders: list[str], cards: OpenCards, terminals: Terminals) -> None:
        self._session = session
        self._folders = folders
        self._cards = cards
        self._terminals = terminals
        self.native: str | None = None
        self.turn: tuple[str, Clock] | None = None
        self._methods: dict[str, tuple[type[BaseModel], Callable[[Any], Awaitable[Any]]]] = {
            "session/request_permission": (schema.RequestPermissionRequest, self._permission),
            "fs/read_text_file": (schema.ReadTextFileRequest, self._read),
            "fs/write_text_file": (schema.WriteTextFileRequest, self._write),
            "terminal/create": (schema.CreateTerminalRequest, self._create_terminal),
            "terminal/output": (schema.TerminalOutputRequest, self._terminal_output),
            "terminal/wait_for_exit": (schema.WaitForTerminalExitRequest, self._wait_for_exit),
            "terminal/kill": (schema.KillTerminalRequest, self._kill_terminal),
            "terminal/release": (schema.ReleaseTerminalRequest, self._release_terminal),
        }

    async def answer(self, method: str, params: dict[str, Any]) -> Any:
        """Give the answer to a request; raises RequestError."""
        try:
            if method == "elicitation/create":
                return await self._elicitation(params)
            if method not in self._methods:
                raise RequestError.method_not_found(method)
            model, act = self._methods[method]
            request: Any = model.model_validate(params)
            if request.session_id != self.native:
                raise RequestError.invalid_params(
                    {"details": f"no session {request.session_id[:100]!r} is open"}
                )
            return await act(request)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(str(step) for step in problem["loc"])
            raise RequestError.invalid_params({"details": f"{place}: {problem['msg']}"}) from error
        except (FileRefusedError, TerminalRefusedError) as error:
            raise RequestError(-32602, str(error), {"details": str(error)}) from error

    # -- people ------------------------------------------------------------------------------------

    async def _permission(self, request: schema.RequestPermissionRequest) -> Any:
        chosen = None
        if self.turn is not None:
            turn, clock = self.turn
            card = card_of(request, self._session, turn, _new_card())
            chosen = chosen_option(card.options, await self._cards.ask(card, clock))
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def _elicitation(self, params: dict[str, Any]) -> Any:
        _ELICITATION.validate_python(params)
        if len(json.dumps(params)) > FORM_LIMIT or is_deeper(params, FORM_DEPTH):
            told = f"a form has at most {FORM_LIMIT:,} characters and is nested at most {FORM_DEPTH} deep"
            raise RequestError.invalid_params({"details": told})
        if self.turn is None:
            return CANCEL
        turn, clock = self.turn
        card = question_card(params, self._session, turn, _new_card())
        return user_answer(params, card, await self._cards.ask(card, clock))

    # -- files -------------------------------------------------------------------------------------

    async def _read(self, request: schema.ReadTextFileRequest) -> Any:
        text = await asyncio.to_thread(read_text, request.path, self._folders, request.line, request.limit)
        return {"content": text}

    async def _write(self, request: schema.WriteTextFileRequest) -> Any:
        await asyncio.to_thread(write_text, request.path, self._folders, request.content)
        return {}

    # -- terminals ---------------------------------------------------------------------------------

    async def _create_terminal(self, request: schema.CreateTerminalRequest) -> Any:
        """Run a program with its arguments; without any, agents mean a line for a shell."""
        cwd = str(allowed_path(request.cwd or self._folders[0], self._folders))
        arguments = [request.command, *request.args] if request.args else [SHELL, "-c", request.command]
        variables = {variable.name: variable.value for variable in request.env or ()}
        return {"terminalId": self._terminals.create(arguments, cwd, variables, request.output_byte_limit)}

    async def _terminal_output(self, request: schema.TerminalOutputRequest) -> Any:
        terminal = self._terminals.find(request.terminal_id)
        text, is_cut = terminal.output()
        told = {"output": text, "truncated": is_cut}
        return told if terminal.status is None else {**told, "exitStatus": _told(terminal.status)}

    async def _wait_for_exit(self, request: schema.WaitForTerminalExitRequest) -> Any:
        return _told(await self._terminals.find(request.terminal_id).exited())

    async def _kill_terminal(self, request: schema.KillTerminalRequest) -> Any:
        self._terminals.find(request.terminal_id).kill()
        return {}

    async def _release_terminal(self, request: schema.ReleaseTerminalRequest) -> Any:
        self._terminals.release(request.terminal_id)
        return {}


def is_deeper(value: Any, levels: int) -> bool:
    """Tell whether a JSON value is nested deeper than so many levels. Pure."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(is_deeper(each, levels - 1) for each in inner))


def _new_card() -> str:
    return f"card_{token_hex(8)}"


def _told(status: ExitStatus) -> dict[str, Any]:
    return {"exitCode": status.code, "signal": status.signal}
