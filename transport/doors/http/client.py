"""A running relay as the commands use it: the same as one in their own process, over HTTP."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, compact_json
from showcaller.actors.contract.ids import new_id
from showcaller.transport.doors.http.bodies import FANOUT_BYTES
from showcaller.transport.doors.http.channel import Channel, RelayGone
from showcaller.transport.doors.http.client_fanout import FollowedFanout


class HttpRelay:
    """The relay that runs on a data folder, used as its owner. Thread-safe.

    It may end and be started again meanwhile; who follows a fan-out waits for that.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Carry out one call of the tool and give its result; a refusal is a result too."""
        try:
            return self._channel.request("POST", "/api/call", {"relay": "this", **arguments})
        except RelayGone as gone:
            return _refused(gone).to_result()

    def start_fanout(self, spec: FanoutSpec, items: Sequence[Any]) -> FollowedFanout:
        """Start a session per item; raises ``Refusal`` when the relay will not."""
        body = {"group": new_id("grp_"), "spec": spec.model_dump(mode="json"), "items": list(items)}
        size = len(compact_json(body).encode("utf-8", "surrogatepass"))
        if size > FANOUT_BYTES:
            raise Refusal(
                Code.INVALID_INPUT,
                f"These items have {size:,} bytes, and a running relay takes {FANOUT_BYTES:,} at once: give "
                "the names of files instead, or several fan-outs. Nothing was started.",
            )
        return self._begin("/api/fanouts", body, rerun=spec.rerun)

    def resume_fanout(self, group: str, *, rerun: bool, jobs: int | None) -> FollowedFanout:
        """Go on with a fan-out named by its group's id, a prefix of it, or its name; raises ``Refusal``."""
        body = {"group": group, "rerun": rerun, "jobs": jobs}
        return self._begin("/api/fanouts/resume", body, rerun=rerun)

    def _begin(self, path: str, body: dict[str, Any], *, rerun: bool) -> FollowedFanout:
        try:
            return FollowedFanout(self._channel, self._channel.asked("POST", path, body), rerun=rerun)
        except RelayGone as gone:
            raise _refused(gone) from gone

    def list_fanouts(self) -> list[dict[str, Any]]:
        """List the last fan-outs, newest first; raises ``Refusal``."""
        try:
            fanouts: list[dict[str, Any]] = self._channel.asked("GET", "/api/fanouts")["fanouts"]
        except RelayGone as gone:
            raise _refused(gone) from gone
        return fanouts


def _refused(gone: RelayGone) -> Refusal:
    return Refusal(Code.UNAVAILABLE, str(gone))
