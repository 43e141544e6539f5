"""A running relay as the commands use it: the same as one in their own process, over HTTP."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, compact_json
from showcaller.actors.contract.ids import new_id
from showcaller.actors.contract.settings import Settings, valid_settings
from showcaller.transport.doors.http.bodies import FANOUT_BYTES
from showcaller.transport.doors.http.channel import RECONNECT_SECONDS, Channel, RelayGone
from showcaller.transport.doors.http.client_fanout import FollowedFanout
from showcaller.transport.doors.http.client_watch import ask_until_answered
from showcaller.transport.doors.http.returning import Return


class HttpRelay:
    """The relay that runs on a data folder, used as its owner. Thread-safe.

    It may end and be started again meanwhile; who follows a fan-out waits for that.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def call(self, arguments: dict[str, Any], *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Carry out one call of the tool and give its result; a refusal is a result too.

        With an ``id`` a repeat has no second effect; so a call with one is repeated when the relay has gone
        and is back within a minute.
        """
        return self._wish("/api/call", {"relay": "this", **arguments}, id)

    def kill(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Stop a session and end its agent's process at once; gives what ``call`` does."""
        return self._wish("/api/acts/kill", {"session": session}, id)

    def go_on(self, session: str) -> dict[str, Any]:
        """Let run what waits in a session's queue since it was stopped; gives what ``call`` does."""
        return self._wish("/api/acts/go_on", {"session": session}, None)

    def restart(self, session: str) -> dict[str, Any]:
        """Go on with a session in a new process of its agent; gives what ``call`` does."""
        return self._wish("/api/acts/restart", {"session": session}, None)

    def delete(self, session: str, *, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Delete a session for good; gives what ``call`` does."""
        return self._wish("/api/acts/delete", {"session": session}, id)

    def _wish(self, path: str, body: dict[str, Any], key: str | None) -> dict[str, Any]:
        if key is None:
            try:
                return self._channel.request("POST", path, body)
            except RelayGone as gone:
                return _refused(gone).to_result()
        with Return(self._channel.home) as returning:
            while True:
                try:
                    return self._channel.request("POST", path, body, key=key)
                except RelayGone as gone:
                    if not self._channel.await_return(returning, gone):
                        return _refused(gone).to_result()

    def monitor(
        self,
        sessions: Sequence[str] | None = None,
        *,
        until: Sequence[str] = (),
        timeout: float = 0,
        since: int | None = None,
        reconnect: float = RECONNECT_SECONDS,
    ) -> dict[str, Any]:
        """Wait for what happens, also over the end of the relay and the start of the next; see ``relay``."""
        asked = {"sessions": sessions, "until": until, "timeout": timeout, "since": since}
        return ask_until_answered(self._channel, "POST", "/api/monitor", asked, reconnect=reconnect)

    def events(self, since: int = 0, limit: int = 100) -> dict[str, Any]:
        """Give a page of the log of events."""
        return ask_until_answered(self._channel, "GET", f"/api/events?since={since}&limit={limit}")

    def settings(self) -> Settings:
        """Give the settings in force, as far as this version knows them; raises ``Refusal``."""
        known, _ = valid_settings(self._asked("GET", "/api/settings")["settings"])
        return Settings.of_values(known)

    def set_setting(self, name: str, value: object) -> Settings:
        """Set one setting, None for its default, and give all that are in force; raises ``Refusal``."""
        self._asked("PUT", f"/api/settings/{quote(name, safe='')}", {"value": value})
        return self.settings()

    def providers(self, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        """List what sessions can run, and whether each can be used; raises ``Refusal``."""
        query = urlencode([("name", name) for name in names])
        listed: list[dict[str, Any]] = self._asked("GET", f"/api/providers?{query}")["providers"]
        return listed

    def export(self, session: str, form: str) -> Iterator[str]:
        """Give a whole conversation as a text in pieces; raises ``Refusal``."""
        try:
            yield from self._channel.texts(f"/api/sessions/{quote(session, safe='')}/export?format={form}")
        except RelayGone as gone:
            raise _refused(gone) from gone

    def back_up(self, target: Path, *, replace: bool = False) -> Path:
        """Copy the relay's store into a file, named by its absolute path; raises ``Refusal``."""
        return Path(self._asked("POST", "/api/backup", {"file": str(target), "replace": replace})["file"])

    def _asked(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        try:
            return self._channel.asked(method, path, body)
        except RelayGone as gone:
            raise _refused(gone) from gone

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
        fanouts: list[dict[str, Any]] = self._asked("GET", "/api/fanouts")["fanouts"]
        return fanouts


def _refused(gone: RelayGone) -> Refusal:
    return Refusal(Code.UNAVAILABLE, str(gone))
