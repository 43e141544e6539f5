"""The one way in for all doors: starts a ``Call`` for each tool call, and fan-outs for the owner."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from showcaller.actors.contract.errors import Code, Refusal, ambiguity, ambiguous, invalid
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.ids import group_start
from showcaller.actors.contract.inbox import Answer
from showcaller.actors.contract.outside import OutsideRequest
from showcaller.actors.contract.provider_states import ProviderList, provider_list
from showcaller.actors.contract.settings import DEFAULTS, Settings, Value, check_setting, check_setting_name
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.calls import (
    OWNER,
    ActRequest,
    AnswerRequest,
    AnyRequest,
    Call,
    Caller,
    CallRequest,
    Conversations,
    GroupRequest,
    OwnerActName,
    RevokeRequest,
    WatchRequest,
)
from showcaller.actors.relay.calls.agent_turns import end_with_turn
from showcaller.actors.relay.calls.external_calls import ExternalCall
from showcaller.actors.relay.fanout_items import check_items, result_so_far
from showcaller.actors.relay.fanout_messages import FanoutRequest
from showcaller.actors.relay.messages import Close
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.relay.settings_keeper import SetSetting
from showcaller.actors.runtime import ActorDeadError, ActorRef, BaseDispatcher, Future
from showcaller.transport.doors.export.transcript import Steps, form_of, steps, written, written_async
from showcaller.transport.doors.local_fanout import LocalFanout, checked_spec, fanout_rows
from showcaller.transport.doors.local_tokens import LocalTokens
from showcaller.transport.doors.opener import Opener, forked


class _Begun(NamedTuple):
    """A call that has begun; without ``call`` it is over already."""

    result: Future[Any]
    call: ActorRef[Any] | None = None
    external: ExternalCall | None = None

    def give_up(self) -> None:
        """Its client has gone: it waits no longer, and its answer reaches nobody."""
        if self.call is not None:
            self.call.kill()
        if self.external is not None:
            self.external.lost()


class LocalDoor:
    """A relay in this process, as its owner uses it. Thread-safe.

    ``call`` blocks and ``call_async`` is awaited on an asyncio loop; both give the result of ``relay_tool``
    as a dict, a refusal being a result too.
    """

    def __init__(self, supervisor: ActorRef[Any], ports: Ports, dispatcher: BaseDispatcher) -> None:
        self._supervisor = supervisor
        self._ports = ports
        self._dispatcher = dispatcher
        self._conversations = Conversations()
        self._gate = threading.Lock()
        self._under_way: set[Future[Any]] = set()
        self._closed = False
        self._opener = Opener()
        self.tokens = LocalTokens(supervisor, ports.reader, ports.agents, self._check_open)

    def close(self) -> None:
        """End the relay: take no more calls, interrupt what runs, and wait until all of it has its answer.

        That takes as long as the workers need to end the running turns. May be called again.
        """
        self._close(Close())

    def leave(self) -> None:
        """End the relay as ``close`` does, but leave what runs to workers that outlive it."""
        self._close(Close(leaves=True))

    def _close(self, close: Close) -> None:
        if not self._opener.is_here:
            return  # it is its parent's, and goes on there
        with self._gate:
            self._closed = True
        self._supervisor.ask(close)
        with self._gate:
            left = list(self._under_way)
        for call in left:
            with suppress(ActorDeadError):  # its client has gone, and it was given up
                call.get()

    # -- calls -------------------------------------------------------------------------------------

    def call(self, arguments: Any, caller: Caller = OWNER, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out one call and wait for its result; ``id`` makes a repeat harmless (see the contract)."""
        result: dict[str, Any] = self._begin(arguments, caller, id).get()
        return result

    async def call_async(
        self,
        arguments: Any,
        caller: Caller = OWNER,
        *,
        id: str | None = None,  # noqa: A002
        answer_within: int | None = None,
    ) -> dict[str, Any]:
        """Carry out one call, as ``call`` does, without blocking the running asyncio loop.

        ``answer_within``: the client drops calls that wait longer than so many seconds (``CallRequest``). To
        cancel it ends its waiting and takes nothing back: what it has stored stays.
        """
        return await self._awaited(self._start(CallRequest(arguments, caller, id, answer_within)))

    def act(self, action: OwnerActName, session: object, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out an act of the owner on a session that is no action of the tool, as ``call`` does."""
        result: dict[str, Any] = self._request(ActRequest(action, session, id)).get()
        return result

    async def act_async(
        self,
        action: OwnerActName,
        session: object,
        *,
        id: str | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        """Carry out an act, as ``act`` does, without blocking the running asyncio loop."""
        result: dict[str, Any] = await self._request(ActRequest(action, session, id))
        return result

    def answer(self, answer: Answer, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Give the owner's answer to a card, as ``call`` carries out a call."""
        result: dict[str, Any] = self._request(AnswerRequest(answer, id)).get()
        return result

    async def answer_async(self, answer: Answer, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Give an answer, as ``answer`` does, without blocking the running asyncio loop."""
        result: dict[str, Any] = await self._request(AnswerRequest(answer, id))
        return result

    def do(self, request: RevokeRequest | GroupRequest) -> dict[str, Any]:
        """Carry out what the owner does with approvals or groups, as ``call`` carries out a call."""
        result: dict[str, Any] = self._request(request).get()
        return result

    async def do_async(self, request: RevokeRequest | GroupRequest) -> dict[str, Any]:
        """Carry it out, as ``do`` does, without blocking the running asyncio loop."""
        result: dict[str, Any] = await self._request(request)
        return result

    def watch(self, asked: OutsideRequest, caller: Caller = OWNER) -> dict[str, Any]:
        """Answer what an owner or a supervisor asks from outside, as ``call`` answers a call."""
        result: dict[str, Any] = self._request(WatchRequest(asked, caller)).get()
        return result

    async def watch_async(self, asked: OutsideRequest, caller: Caller = OWNER) -> dict[str, Any]:
        """Answer as ``watch`` does, without blocking the asyncio loop; to cancel it ends its waiting."""
        return await self._awaited(self._start(WatchRequest(asked, caller)))

    async def _awaited(self, begun: "_Begun") -> dict[str, Any]:
        try:
            result: dict[str, Any] = await begun.result
        except asyncio.CancelledError:
            begun.give_up()
            raise
        return result

    def _begin(
        self, arguments: Any, caller: Caller, client_id: str | None, answer_within: int | None = None
    ) -> Future[Any]:
        return self._request(CallRequest(arguments, caller, client_id, answer_within))

    def _request(self, request: AnyRequest) -> Future[Any]:
        return self._start(request).result

    def _start(self, request: AnyRequest) -> "_Begun":
        if not self._opener.is_here:  # first of all: whoever held the gate at the fork holds it for ever
            return _Begun(_refused(forked()))
        with self._gate:
            if self._closed:
                return _Begun(_refused(_closed()))
            with self._dispatcher:
                call = Call.start(self._ports, self._supervisor, self._conversations)
            external: ExternalCall | None = None
            if isinstance(request, CallRequest) and request.caller.kind == "external":
                external = self._conversations.external.begin(str(request.caller.session), request.client_id)
                request = request._replace(external=external)
            result = call.request(request)
            self._under_way.add(result)
        result.add_done_callback(self._under_way.discard)
        if external is not None:
            external.follow(result, call.kill)
        if isinstance(request, CallRequest):
            end_with_turn(self._supervisor, request.caller, result, call.kill)
        return _Begun(result, call, external)

    def _check_open(self) -> None:
        self._opener.check()
        if self._closed:
            raise _closed()

    # -- settings ----------------------------------------------------------------------------------

    def settings(self) -> Settings:
        """Give the owner's settings as they are in force."""
        return self._ports.settings

    def setting(self, name: object) -> tuple[Value, Value]:
        """Give what a setting is and what it is by default; raises ``Refusal`` for one that there is not."""
        entries = self._ports.providers
        known = check_setting_name(name, entries)
        return self._ports.settings.values(entries)[known], DEFAULTS.values(entries)[known]

    def setting_values(self) -> dict[str, Value]:
        """Give the value of each setting by its name, with the switches of this relay's providers."""
        return self._ports.settings.values(self._ports.providers)

    def set_setting(self, name: object, value: object) -> Settings:
        """Keep a setting and go by it; gives all that are in force then, or raises ``Refusal``."""
        wish = self._setting(name, value)
        try:
            in_force: Settings = self._supervisor.ask(wish)
        except Exception as error:
            raise refusal_for(error) from error
        return in_force

    async def set_setting_async(self, name: object, value: object) -> Settings:
        """Keep a setting, as ``set_setting`` does, without blocking the running asyncio loop."""
        wish = self._setting(name, value)
        try:
            in_force: Settings = await self._supervisor.request(wish)
        except Exception as error:
            raise refusal_for(error) from error
        return in_force

    def _setting(self, name: object, value: object) -> SetSetting:
        ((known, checked),) = check_setting(name, value, self._ports.providers).items()
        self._check_open()
        return SetSetting(known, checked)

    @property
    def default_folder(self) -> str:
        """Where sessions work whose caller names no folder."""
        return self._ports.default_folder

    def providers(self, names: Iterable[str] = ()) -> ProviderList:
        """Give what sessions can run, and whether each can be used: of these names, or all of them."""
        ports = self._ports
        return provider_list(ports.providers, ports.settings, names, ports.find_program, ports.handshakes())

    # -- conversations -----------------------------------------------------------------------------

    def export(self, session: str, form: str) -> Iterator[str]:
        """Give a whole conversation as a text in pieces, without waking its agent; raises ``Refusal``."""
        return written(self._export(session, form))

    def export_async(self, session: str, form: str) -> AsyncIterator[str]:
        """Give a conversation, as ``export`` does, without blocking the running asyncio loop."""
        return written_async(self._export(session, form))

    def _export(self, session: str, form: str) -> Steps:
        self._check_open()
        return steps(
            lambda arguments: self._begin(arguments, OWNER, None),
            self._ports.reader,
            session,
            form_of(form),
            goes_on=self._ports.relay_runs(),
        )

    # -- fan-outs ----------------------------------------------------------------------------------

    def start_fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> LocalFanout:
        """Store a fan-out and begin it; raises ``Refusal`` when the relay will not.

        ``items`` are JSON values; one that no prompt can be made of refuses the whole, and its text names it.
        """
        spec, items = checked_spec(spec), _listed(items)
        check_items(spec, items)
        group = self._ports.new_id("grp_")
        name = spec.name or f"fanout-{group[4:10]}"
        return self._follow(group, name=name, spec=spec, items=items)

    def resume_fanout(self, group: object, *, rerun: bool, jobs: int | None) -> LocalFanout:
        """Go on with a fan-out named by its group's id, a prefix of it, or its name.

        ``rerun`` starts items again that were cut in the middle; ``jobs`` replaces the stored bound.
        Raises ``Refusal``: no such fan-out, or several of that name.
        """
        if jobs is not None and jobs < 1:
            raise invalid(f"{jobs} jobs at a time would run nothing: give 1 or more.")
        return self._follow(self.find_fanout(group), jobs=jobs, rerun=rerun)

    def find_fanout(self, group: object) -> str:
        """Give the group's id of the fan-out that an id, a prefix, or a name means; raises ``Refusal``."""
        if not isinstance(group, str):
            raise invalid(f"A fan-out is named by text; a value of type {type(group).__name__} came.")
        shown = quote_foreign(group, 80)
        found = (
            self._read("find_group", name=group, start=group_start(group))
            if group and group.isprintable()
            else []
        )
        if not found:
            raise Refusal(Code.UNKNOWN_GROUP, f"There is no fan-out {shown}.", groups=self.list_fanouts())
        if len(found) > 1:
            named = [{"id": one["id"], "name": one["name"]} for one in found]
            meant = ambiguity(shown, "fan-outs", meant=[one["id"] for one in named])
            raise ambiguous(Code.UNKNOWN_GROUP, meant, groups=named)
        return str(found[0]["id"])

    def begin_fanout(self, request: FanoutRequest) -> ActorRef[Any]:
        """Begin a fan-out, or go on with one, for a listener of the caller's own; raises ``Refusal``.

        Gives the fan-out, which takes ``StopFanout`` and ``Room``; its beginning is told to the listener.
        """
        self._check_open()
        ref: ActorRef[Any] = self._supervisor.ask(request)
        return ref

    async def fanout_results(self, group: str, after: int, limit: int) -> list[ItemResult]:
        """Give up to ``limit`` items of a fan-out with numbers above ``after`` as the store has them.

        One without a recorded end is ``skipped``, or ``interrupted`` when it has begun. Raises ``Refusal``.
        """
        try:  # also while the relay ends: followers are told of the ends of what ran
            rows = await read(self._ports.reader, "fanout_items", group=group, after=after, limit=limit)
        except Exception as error:
            raise refusal_for(error) from error
        return [result_so_far(row) for row in rows]

    async def counts(self) -> dict[str, int]:
        """Give how many rows of each kind are stored, and how many prompts are ``queued`` and ``handed``."""
        counted: dict[str, int] = await self._read_async("counts")
        return counted

    def _follow(
        self,
        group: str,
        *,
        name: str | None = None,
        spec: FanoutSpec | None = None,
        items: tuple[Any, ...] | None = None,
        jobs: int | None = None,
        rerun: bool | None = None,
    ) -> LocalFanout:
        run = LocalFanout(group)
        run.follow(self.begin_fanout(FanoutRequest(group, name, spec, items, run, jobs, rerun)))
        return run

    def list_fanouts(self) -> list[dict[str, Any]]:
        """List the last fan-outs, newest first; see ``fanout_rows``."""
        return fanout_rows(self._read("last_fanouts", limit=20))

    async def list_fanouts_async(self) -> list[dict[str, Any]]:
        """List the last fan-outs, as ``list_fanouts`` does, without blocking the running asyncio loop."""
        return fanout_rows(await self._read_async("last_fanouts", limit=20))

    def _read(self, query: str, **arguments: Any) -> Any:
        self._check_open()
        try:
            return read(self._ports.reader, query, **arguments).get()
        except Exception as error:
            raise refusal_for(error) from error

    async def _read_async(self, query: str, **arguments: Any) -> Any:
        self._check_open()
        try:
            return await read(self._ports.reader, query, **arguments)
        except Exception as error:
            raise refusal_for(error) from error


def _listed(items: object) -> tuple[Any, ...]:
    if not isinstance(items, Iterable):
        raise invalid(f"The items of a fan-out are a list; {type(items).__name__} came.")
    return tuple(items)


def _refused(refusal: Refusal) -> Future[Any]:
    refused: Future[Any] = Future()
    refused.set(refusal.to_result())
    return refused


def _closed() -> Refusal:
    return Refusal(Code.UNAVAILABLE, "This relay was closed: open it again.")
