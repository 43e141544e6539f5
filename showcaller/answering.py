"""How a Python program answers what agents ask: a part of ``Relay``."""

from collections.abc import Sequence
from typing import Any

from showcaller.actors.contract.approvals import Approvals, Revoke
from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.inbox import Answer, Inbox
from showcaller.actors.contract.outside import read_request
from showcaller.actors.relay.calls import RevokeRequest
from showcaller.transport.doors.local import LocalDoor


class Answering:
    """What a relay asks its owner, and the answers."""

    _door: LocalDoor

    def inbox(self, *, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """List what waits for an answer, newest first. ::

            for item in relay.inbox()["items"]:
                relay.answer(item["id"], choices=["Allow"])

        Args:
            limit: how many to list at most.
            cursor: ``nextCursor`` of the page before.

        Returns:
            A result as of ``call``: ``items``, each with ``id``, ``kind``, ``session``, ``title``,
            ``question``, ``detail``, ``options`` (each with ``id``, ``label``, ``kind``), ``multiSelect``,
            ``allowFreeform``, ``askedAt`` and ``expiresAt``; ``nextCursor`` when there is more.

        """
        try:
            return self._door.watch(read_request(Inbox, {"limit": limit, "cursor": cursor}))
        except Refusal as refusal:
            return refusal.to_result()

    async def inbox_async(self, *, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """List what waits as ``inbox`` does, without blocking the running asyncio loop."""
        try:
            return await self._door.watch_async(read_request(Inbox, {"limit": limit, "cursor": cursor}))
        except Refusal as refusal:
            return refusal.to_result()

    def answer(
        self,
        question_id: str,
        choices: Sequence[str] = (),
        *,
        text: str | None = None,
        dismiss: bool = False,
        id: str | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        """Answer a card of the inbox, or dismiss it; the first answer counts.

        Args:
            question_id: its id.
            choices: labels of its options, in any case, or their ids.
            text: an answer in free text, where the card takes one.
            dismiss: there will be no answer.
            id: makes a repeat harmless: the same id again gives what the first gave.

        Returns:
            A result as of ``call``, with ``question_id``, ``session`` and ``status``.

        """
        try:
            return self._door.answer(_answer(question_id, choices, text, dismiss=dismiss), id=id)
        except Refusal as refusal:
            return refusal.to_result()

    async def answer_async(
        self,
        question_id: str,
        choices: Sequence[str] = (),
        *,
        text: str | None = None,
        dismiss: bool = False,
        id: str | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        """Answer a card as ``answer`` does, without blocking the running asyncio loop."""
        try:
            return await self._door.answer_async(_answer(question_id, choices, text, dismiss=dismiss), id=id)
        except Refusal as refusal:
            return refusal.to_result()

    def approvals(self, *, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """List what stands allowed to agents, by conversation. ::

            for one in relay.approvals()["approvals"]:
                relay.revoke(one["session"], one["kind"])

        Args:
            limit: how many to list at most.
            cursor: ``nextCursor`` of the page before.

        Returns:
            A result as of ``call``: ``approvals``, each with ``session``, ``title``, ``kind`` and
            ``allowedAt``; ``nextCursor`` when there is more.

        """
        try:
            return self._door.watch(read_request(Approvals, {"limit": limit, "cursor": cursor}))
        except Refusal as refusal:
            return refusal.to_result()

    def revoke(self, session: str, kind: str | None = None) -> dict[str, Any]:
        """Have what was allowed in a conversation stand no more; the next call of its kind asks again.

        Args:
            session: the conversation.
            kind: ``create``, ``settings`` or ``subscribe``; left out, all of it.

        Returns:
            A result as of ``call``, with ``session`` and ``revoked``, the kinds.

        """
        try:
            return self._door.do(RevokeRequest(read_request(Revoke, {"session": session, "kind": kind})))
        except Refusal as refusal:
            return refusal.to_result()

    def unlock(self, session: str) -> dict[str, Any]:
        """Have the prompts of an external conversation to others count from 0 again.

        Args:
            session: the conversation.

        Returns:
            A result as of ``call``, with ``session``.

        """
        return self._door.act("unlock", session)


def _answer(question_id: str, choices: Sequence[str], text: str | None, *, dismiss: bool) -> Answer:
    named = choices if isinstance(choices, str) else list(choices)
    given = {"question_id": question_id, "choices": named, "answer": text, "dismiss": dismiss}
    return read_request(Answer, given)
