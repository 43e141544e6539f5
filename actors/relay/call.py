"""A tool call: a short-lived actor that goes through the rules in order; only it awaits."""

from typing import Any, Literal, NamedTuple

from showcaller.actors.contract import calls, results
from showcaller.actors.contract.errors import Code, Refusal, invalid
from showcaller.actors.contract.foreign_text import quote_foreign
from showcaller.actors.contract.idempotency import client_id_of
from showcaller.actors.contract.ids import session_start
from showcaller.actors.contract.shape import ParsedCall, parse_call
from showcaller.actors.contract.summaries import SHORT_ID, quoted, summary
from showcaller.actors.relay import prompts, views
from showcaller.actors.relay.answers import read
from showcaller.actors.relay.cursors import read_cursor, write_cursor
from showcaller.actors.relay.fanout_steps import stored_end
from showcaller.actors.relay.messages import (
    Accepted,
    AwaitEnd,
    AwaitReady,
    CreateSession,
    Glance,
    Identity,
    IfAwake,
    Look,
    Prompt,
    ToSession,
    TurnOver,
)
from showcaller.actors.relay.ports import Ports
from showcaller.actors.relay.refusals import refusal_for
from showcaller.actors.relay.turn_records import cut_end
from showcaller.actors.runtime import Actor, ActorRef, Timeout

End = TurnOver | Glance | Literal["cancelled"]
"""What became of a prompt: its end, a look at the session that has it, or that it was taken out."""


class Caller(NamedTuple):
    """Who calls, as the door knows from its token: the owner, or the session of an agent."""

    kind: Literal["owner", "agent"]
    session: str | None = None


class CallRequest(NamedTuple):
    """One call as a door received it; ``client_id`` makes a repeat of a write harmless."""

    arguments: Any
    caller: Caller
    client_id: str | None = None


class Call(Actor):
    """Answers one ``CallRequest`` with the result's JSON object, and stops. It never raises to the door.

    The order of the checks is that of the contract: shape, relay, target, limits, provider, model, group,
    folder. The checks that hold for agents alone are not built yet, so only the owner may call.
    """

    registered = False

    def __init__(self, ports: Ports, supervisor: ActorRef[Any]) -> None:
        super().__init__()
        self._ports = ports
        self._supervisor = supervisor
        self._relay = ports.relay_name
        self._notes: list[str] = []
        self._client_id: str | None = None

    async def on_receive(self, request: CallRequest) -> dict[str, Any]:
        """Carry the call out and give its result."""
        try:
            return await self._carry_out(request)
        except Exception as error:  # noqa: BLE001 - the caller gets it as a refusal, whatever it is
            return refusal_for(error).to_result()
        finally:
            self.stop()

    async def _carry_out(self, request: CallRequest) -> dict[str, Any]:
        parsed = parse_call(request.arguments)
        if request.caller.kind != "owner":
            raise Refusal(Code.FORBIDDEN, "This relay does not take calls of agents yet: only its owner's.")
        self._client_id = None if request.client_id is None else client_id_of(request.client_id)
        self._notes.extend(parsed.notes)
        identity: Identity | None = await self._supervisor.request(AwaitReady())
        self._relay = self._relay if identity is None else identity.name
        self._check_relay(parsed.call.relay)
        result = await self._act(parsed.call.model_copy(update={"relay": "this"}))
        return self._finished(result, parsed).to_result()

    def _finished(self, result: results.CallResult, parsed: ParsedCall) -> results.CallResult:
        notes = [note for note in (result.note, *self._notes) if note]
        return result.model_copy(update={"note": " ".join(notes) or None, "ignored": parsed.ignored or None})

    async def _act(self, call: calls.Call) -> results.CallResult:
        match call:
            case calls.ListSessions():
                return await self._list_sessions(call)
            case calls.ReadSession():
                return await self._read_session(call)
            case calls.Send():
                return await self._send(call)
            case calls.CreateSession():
                return await self._create_session(call)
            case calls.Wait():
                return await self._wait(call)

    # -- checks ------------------------------------------------------------------------------------

    def _check_relay(self, relay: str) -> None:
        name = self._relay
        if relay.lower() not in {"this", name.lower()} and relay.removeprefix("@").lower() != name.lower():
            raise Refusal(
                Code.UNKNOWN,
                f"There is no relay {quote_foreign(relay)}; this one is {name!r}.",
                relays=[name],
            )

    async def _session(self, name: str) -> str:
        """Give the one session that a caller's text names."""
        start = session_start(name)
        found: list[str] = (
            [] if start is None else await read(self._ports.reader, "find_session", prefix=start)
        )
        if not found:
            raise Refusal(Code.NOT_FOUND, f"There is no session {quote_foreign(name)}.", missing=[name])
        if len(found) > 1:
            raise invalid(
                f"{quote_foreign(name)} can mean several sessions: use a longer id.", sessions=found
            )
        return found[0]

    # -- reading -----------------------------------------------------------------------------------

    async def _list_sessions(self, call: calls.ListSessions) -> results.ListSessionsResult:
        after = None if call.cursor is None else read_cursor("sessions", call.cursor, (int, str))
        page = await read(
            self._ports.reader,
            "list_sessions",
            scope=call.scope,
            query=call.query,
            limit=call.limit,
            after=after,
        )
        sessions = tuple(views.session_view(self._present(row)) for row in page["sessions"])
        working = sum(1 for session in sessions if session.state == "running_turn")
        return results.ListSessionsResult(
            relay=self._relay,
            summary=summary("list_sessions", f"{len(sessions)} sessions, {working} at work"),
            sessions=sessions,
            next_cursor=None if page["next"] is None else write_cursor("sessions", page["next"]),
        )

    async def _read_session(self, call: calls.ReadSession) -> results.ReadSessionResult:
        session = await self._session(call.session)
        before = None if call.before is None else read_cursor("messages", call.before, (str, int))
        if before is not None and before[0] != session:
            raise invalid("This cursor is one of another session: start again without it.")
        reader = self._ports.reader
        row = self._present(await read(reader, "load_session", session=session))
        page = await read(
            reader, "read_messages", session=session, last=call.last, before=before and before[1]
        )
        glance: Glance | None = await self._supervisor.request(IfAwake(session, Look()))
        running = row["running"] and await read(reader, "message", message=row["running"])
        view = views.session_view(row)
        older = page["older"]
        return results.ReadSessionResult(
            relay=self._relay,
            summary=summary("read_session", quoted(view.title), relay=self._relay, session=session),
            session=view,
            state=view.state,
            queued=view.queued,
            last_turn=view.last_turn,
            process=view.process,
            messages=views.message_views(page["messages"], call.max_chars),
            in_flight=views.in_flight_view(glance, running),
            older_cursor=None if older is None else write_cursor("messages", [session, older]),
        )

    def _present(self, row: dict[str, Any]) -> dict[str, Any]:
        """A session's row as it is now: what a relay that has gone had under way is cut."""
        return row if self._ports.relay_runs() else views.as_cut(row)

    # -- prompting ---------------------------------------------------------------------------------

    async def _send(self, call: calls.Send) -> results.PromptResult:
        session = await self._session(call.session)
        row = await read(self._ports.reader, "load_session", session=session)
        if call.provider is not None and call.provider != row["provider"]:
            raise Refusal(
                Code.PROVIDER_UNAVAILABLE,
                f"Session {_named(session)} runs {row['provider']} and cannot change to "
                f"{quote_foreign(call.provider)}. {call.nothing}",
                providers=[row["provider"]],
            )
        self._notes.extend(prompts.check_settings(call, row["provider"]))
        message = prompts.message_row(call, self._ports, self._client_id)
        prompt = Prompt(message, only_if_idle=call.if_busy == "fail")
        accepted: Accepted = await self._supervisor.request(ToSession(session, prompt))
        return await self._outcome("send", accepted, call.text, call.wait_seconds)

    async def _create_session(self, call: calls.CreateSession) -> results.CreateSessionResult:
        provider = call.provider or "command"
        prompts.check_provider(provider, call.nothing, self._ports.providers)
        self._notes.extend(prompts.check_settings(call, provider))
        group = None if call.group is None else await self._group(call.group)
        cwd = prompts.working_folder(call.cwd, self._ports.default_folder)
        message = prompts.message_row(call, self._ports, self._client_id)
        row: dict[str, Any] = {
            "id": self._ports.new_id("ses_"),
            "title": call.title or prompts.title_of(call.text),
            "provider": provider,
            "mode": call.mode or "agent",
            "origin": "owner",
            "created_at": message["created_at"],
            "cwd": cwd,
            "group": None if group is None else group["id"],
        }
        accepted: Accepted = await self._supervisor.request(CreateSession(row, Prompt(message)))
        outcome = await self._outcome("create_session", accepted, call.text, call.wait_seconds)
        if accepted.duplicate:
            row = await read(self._ports.reader, "load_session", session=accepted.session)
        elif group is not None:
            row |= {"group_name": group["name"], "group_head": None}
        return results.CreateSessionResult(
            **dict(outcome),
            provider=row["provider"],
            model_source="default" if call.provider is None else "requested",
            mode=row["mode"],
            title=row["title"],
            cwd=row["cwd"],
            group=views.group_place(row),
        )

    async def _group(self, name: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = await read(self._ports.reader, "find_group", prefix=name)
        if len(found) == 1:
            return found[0]
        how = "no group" if not found else "more than one group"
        raise Refusal(
            Code.UNKNOWN_GROUP,
            f"There is {how} {quote_foreign(name)}. Nothing was created.",
            groups=[{"id": one["id"], "name": one["name"]} for one in found[:20]],
            groups_total=len(found),
        )

    async def _wait(self, call: calls.Wait) -> results.PromptResult:
        assert call.session is not None  # only an external caller may omit them, and parse_call knows that
        assert call.message_id is not None
        session = await self._session(call.session)
        end = await self._end_of(session, call.message_id, call.wait_seconds)
        return self._prompt_result("wait", session, call.message_id, end, "")

    # -- what became of a prompt -------------------------------------------------------------------

    async def _outcome(
        self, action: str, accepted: Accepted, text: str, wait_seconds: int
    ) -> results.PromptResult:
        session, message = accepted.session, accepted.message
        if accepted.duplicate:
            return results.PromptResult(
                relay=self._relay,
                summary=summary(action, "sent before", relay=self._relay, session=session),
                session=session,
                message_id=message,
                status="duplicate",
            )
        try:
            end = await self._end_of(session, message, wait_seconds)
            return self._prompt_result(action, session, message, end, text)
        except Exception as error:  # noqa: BLE001 - it is stored: nothing that fails now may read as "not sent"
            return results.PromptResult(
                relay=self._relay,
                summary=summary(action, "stored", relay=self._relay, session=session),
                note=f"It is stored, do not send it again; waiting for it failed: {refusal_for(error)}",
                session=session,
                message_id=message,
                status="queued",
            )

    async def _end_of(self, session: str, message: str, wait_seconds: int) -> End:
        """Wait for a message's end; gives how it stands when the time is up first, or nothing will come."""
        try:
            over: TurnOver | None = await self._supervisor.request(
                IfAwake(session, AwaitEnd(message)), timeout=float(wait_seconds)
            )
        except Timeout:
            over = None
            glance: Glance | None = await self._supervisor.request(IfAwake(session, Look()))
            if glance is not None and message in {glance.turn, *glance.queued}:
                return glance
        return over if over is not None else await self._stored_end(session, message)

    async def _stored_end(self, session: str, message: str) -> End:
        row = await read(self._ports.reader, "message", message=message)
        if row is None or row["session"] != session or row["role"] != "user":
            raise Refusal(
                Code.NOT_FOUND,
                f"Session {_named(session)} has no prompt {quote_foreign(message, 60)}.",
                missing=[message],
            )
        if row["status"] == "cancelled":
            return "cancelled"
        if row["status"] == "queued":
            return Glance(turn=None, phase=None, text="", queued=(message,))
        if row["status"] == "handed" and not self._ports.relay_runs():
            return TurnOver(session, message, cut_end(session, message), None)
        if row["status"] == "handed":
            return Glance(turn=message, phase="running", text="", queued=())
        reply = row["reply"]
        return TurnOver(session, message, stored_end(row), None if reply is None else reply["id"])

    def _prompt_result(
        self, action: str, session: str, message: str, found: End, text: str
    ) -> results.PromptResult:
        told = quoted(text) if text else "what became of it"
        common: dict[str, Any] = {
            "relay": self._relay,
            "summary": summary(action, told, relay=self._relay, session=session),
            "session": session,
            "message_id": message,
        }
        if found == "cancelled":
            return results.PromptResult(**common, status="cancelled")
        if isinstance(found, Glance):
            if found.turn != message:
                return results.PromptResult(**common, status="queued")
            return results.PromptResult(**common, status="running", progress=views.progress_view(found))
        reply = views.reply_view(found)
        if reply is not None and reply.truncated:
            common["note"] = "The reply was cut: read_session shows more of it."
        end = found.end
        return results.PromptResult(
            **common,
            status=end.outcome,
            stop_reason=end.stop_reason if end.outcome != "stopped" else None,
            error_class=end.error_class,
            error_text=end.error_text,
            reply=reply,
        )


def _named(session: str) -> str:
    return session[SHORT_ID]
