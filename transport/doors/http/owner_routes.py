"""What the owner does besides calling the tool: acts on sessions, settings, providers, copies."""

import asyncio
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from showcaller.actors.contract.errors import Code, invalid
from showcaller.actors.contract.provider_states import ProviderList
from showcaller.actors.contract.results import StopResult, UpdateSessionResult
from showcaller.actors.contract.settings import PLAIN, Value
from showcaller.actors.contract.views import ResultModel
from showcaller.actors.relay.calls import OwnerActName
from showcaller.actors.relay.calls.owner_acts import Done, GoOnResult, RestartResult
from showcaller.transport.doors.http.bodies import SMALL_BYTES, idempotency_key, read_model
from showcaller.transport.doors.http.operations import TEXT, Operation, Path
from showcaller.transport.doors.http.replies import result_reply
from showcaller.transport.doors.local import LocalDoor

MOST_NAMES: Final = 100
BACKUP_BYTES: Final = 16 * 1024
BackUp = Callable[[FilePath, bool], FilePath]


class ActBody(BaseModel):
    """The session to act on: its id, or the first six or more characters of one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    session: str = Field(min_length=1, max_length=64)


class UpdateBody(BaseModel):
    """The session to change, and at least one of its settings; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    session: str = Field(min_length=1, max_length=64)
    model: str | None = None
    effort: str | None = None
    mode: str | None = None
    title: str | None = None
    group: str | None = None
    cwd: str | None = None
    auto_compact_window: int | str | None = None
    thinking_enabled: bool | None = None
    thinking_display: str | None = None
    may_create_sessions: bool | None = None


class SettingBody(BaseModel):
    """What a setting shall be; null goes back to its default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    value: JsonValue


class BackupBody(BaseModel):
    """Where to copy the store to: an absolute path; ``replace`` says whether a file there may be replaced."""

    model_config = ConfigDict(extra="forbid", strict=True)

    file: str = Field(min_length=2, max_length=4096, pattern="^/")
    replace: bool = False


class SettingsAnswer(ResultModel):
    """All settings as they are in force, by their names."""

    ok: Literal[True] = True
    settings: dict[str, Value]


class SettingAnswer(ResultModel):
    """One setting as it is in force, and its default."""

    ok: Literal[True] = True
    name: str
    value: Value
    default: Value


class BackupAnswer(ResultModel):
    """The file that was made."""

    ok: Literal[True] = True
    file: str


class OwnerRoutes:
    """The paths of the owner's own acts; made on the asyncio loop that serves them."""

    def __init__(self, door: LocalDoor, back_up: BackUp) -> None:
        self._door = door
        self._back_up = back_up
        self._copying = asyncio.Lock()

    def routes(self) -> list[Path]:
        """Give the paths."""
        return [
            Path("POST", "/api/acts/update", self.update, _UPDATE),
            Path("POST", "/api/acts/{act}", self.act, _ACT),
            Path("GET", "/api/settings", self.settings, _SETTINGS),
            Path("GET", "/api/settings/{name}", self.setting, _SETTING),
            Path("PUT", "/api/settings/{name}", self.set_setting, _SET_SETTING),
            Path("GET", "/api/providers", self.providers, _PROVIDERS),
            Path("POST", "/api/backup", self.copy, _BACKUP),
        ]

    async def act(self, request: Request) -> Response:
        """Carry out an act on a session."""
        named = request.path_params["act"]
        for act in get_args(OwnerActName):
            if act == named:
                body = await read_model(request, SMALL_BYTES, ActBody)
                key = idempotency_key(request)
                return result_reply(await self._door.act_async(act, body.session, id=key))
        raise invalid(f"There is no act {named[:40]!a}; there are {', '.join(get_args(OwnerActName))}.")

    async def update(self, request: Request) -> Response:
        """Change settings of a session, as ``update_session`` does, and what is the owner's alone to set."""
        body = await read_model(request, SMALL_BYTES, UpdateBody)
        call = {"action": "update_session", "relay": "this", **body.model_dump(exclude_none=True)}
        return result_reply(await self._door.call_async(call, id=idempotency_key(request)))

    async def settings(self, request: Request) -> Response:
        """Give all settings."""
        del request
        return result_reply(SettingsAnswer(settings=self._door.setting_values()).model_dump(mode="json"))

    async def setting(self, request: Request) -> Response:
        """Give one setting."""
        return self._setting_reply(request.path_params["name"])

    async def set_setting(self, request: Request) -> Response:
        """Set one setting, from now on and for every later relay of this data folder."""
        name = request.path_params["name"]
        self._door.setting(name)  # there is none: said before the body is looked at
        body = await read_model(request, SMALL_BYTES, SettingBody)
        await self._door.set_setting_async(name, body.value)
        return self._setting_reply(name)

    def _setting_reply(self, name: str) -> Response:
        value, default = self._door.setting(name)
        return result_reply(SettingAnswer(name=name, value=value, default=default).model_dump(mode="json"))

    async def providers(self, request: Request) -> Response:
        """List the providers, or those of the names that were given."""
        names = request.query_params.getlist("name")
        if len(names) > MOST_NAMES or any(len(name) > 64 or not name.isprintable() for name in names):
            raise invalid(
                f"name names a provider in up to 64 characters, and comes up to {MOST_NAMES} times."
            )
        found = await asyncio.to_thread(self._door.providers, names)
        return result_reply(found.model_dump(mode="json", by_alias=True))

    async def copy(self, request: Request) -> Response:
        """Copy the store into a file, one copy at a time."""
        body = await read_model(request, BACKUP_BYTES, BackupBody)
        async with self._copying:
            made = await asyncio.to_thread(self._back_up, FilePath(body.file), body.replace)
        return result_reply(BackupAnswer(file=str(made)).model_dump())


_NAME: Final[dict[str, Any]] = {
    "name": {
        "type": "string",
        "pattern": rf"^(?:{'|'.join(PLAIN)}|providers\.[a-z][a-z0-9-]{{0,31}}\.agents_may_start)$",
    }
}
"""The names of the settings; which providers there are is the relay's own."""
_ACT: Final = Operation(
    "Carry out an act of the owner on a session: kill, delete, go_on, restart or unlock.",
    takes=ActBody,
    gives=(StopResult, Done, GoOnResult, RestartResult),
    path={"act": {"type": "string", "enum": list(get_args(OwnerActName))}},
    once=True,
    codes=(Code.BUSY, Code.START_FAILED),
)
_UPDATE: Final = Operation(
    "Change settings of a session, for its next turns; may_create_sessions is the owner's alone to set.",
    takes=UpdateBody,
    gives=UpdateSessionResult,
    once=True,
    codes=(Code.BUSY, Code.PROVIDER_UNAVAILABLE, Code.UNKNOWN_GROUP, Code.UNKNOWN_MODEL),
)
_SETTINGS: Final = Operation("Give all settings as they are in force.", gives=SettingsAnswer)
_SETTING: Final = Operation("Give one setting and its default.", gives=SettingAnswer, path=_NAME)
_SET_SETTING: Final = Operation(
    "Set one setting; null goes back to its default.", takes=SettingBody, gives=SettingAnswer, path=_NAME
)
_PROVIDERS: Final = Operation(
    "List what sessions can run, and whether each can be used.",
    gives=ProviderList,
    query={"name": {"type": "array", "items": {**TEXT, "maxLength": 64}, "maxItems": MOST_NAMES}},
)
_BACKUP: Final = Operation(
    "Copy all that the relay keeps into a file, as it is at one moment.", takes=BackupBody, gives=BackupAnswer
)
