"""The one way in for all doors: starts a ``Call`` for each tool call, and fan-outs for the owner."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec
from showcaller.actors.contract.times import time_text
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.call import Call, Caller, CallRequest
from showcaller.actors.relay.fanout_messages import FanoutRequest
from showcaller.actors.relay.ports import Ports
from showcaller.actors.runtime import ActorRef, BaseDispatcher, Future
from showcaller.transport.doors.local_fanout import LocalFanout

OWNER = Caller("owner")


class LocalDoor:
    """A relay in this process, as its owner uses it. Thread-safe.

    ``call`` blocks and ``call_async`` is awaited on an asyncio loop; both give the result of 'relay_tool'
    as a dict, a refusal being a result too.
    """

    def __init__(self, supervisor: ActorRef[Any], ports: Ports, dispatcher: BaseDispatcher) -> None:
        self._supervisor = supervisor
        self._ports = ports
        self._dispatcher = dispatcher

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
    ) -> dict[str, Any]:
        """Carry out one call, as ``call`` does, without blocking the running asyncio loop."""
        result: dict[str, Any] = await self._begin(arguments, caller, id)
        return result

    def _begin(self, arguments: Any, caller: Caller, client_id: str | None) -> Future[Any]:
        with self._dispatcher:
            call = Call.start(self._ports, self._supervisor)
        return call.request(CallRequest(arguments, caller, client_id))

    # -- fan-outs ----------------------------------------------------------------------------------

    def start_fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> LocalFanout:
        """Store a fan-out and begin it; raises ``Refusal`` when the relay will not.

        ``items`` are JSON values that passed ``check_item``.
        """
        group = self._ports.new_id("grp_")
        name = spec.name or f"fanout-{group[4:10]}"
        return self._follow(group, name=name, spec=spec, items=tuple(items))

    def resume_fanout(self, group: str, *, rerun: bool, jobs: int | None) -> LocalFanout:
        """Go on with a fan-out named by its group's id, a prefix of it, or its name.

        ``rerun`` starts items again that were cut in the middle; ``jobs`` replaces the stored bound.
        Raises ``Refusal``: no such fan-out, or several of that name.
        """
        found = read(self._ports.reader, "find_group", prefix=group).get()
        if not found:
            raise Refusal(Code.UNKNOWN_GROUP, f"There is no fan-out {group!r}.", groups=self.list_fanouts())
        if len(found) > 1:
            named = [{"id": one["id"], "name": one["name"]} for one in found]
            raise Refusal(
                Code.UNKNOWN_GROUP, f"{len(found)} groups are named {group!r}: use the id.", groups=named
            )
        return self._follow(found[0]["id"], jobs=jobs, rerun=rerun)

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
        run.follow(self._supervisor.ask(FanoutRequest(group, name, spec, items, run, jobs, rerun)))
        return run

    def list_fanouts(self) -> list[dict[str, Any]]:
        """List the last fan-outs, newest first: ``group``, ``name``, ``createdAt``, ``items``, ``ended``."""
        rows = read(self._ports.reader, "last_fanouts", limit=20).get()
        return [
            {
                "group": row["group"],
                "name": row["name"],
                "createdAt": time_text(row["created_at"]),
                "items": row["total"],
                "ended": row["recorded"],
            }
            for row in rows
        ]
