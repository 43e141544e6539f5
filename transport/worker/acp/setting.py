"""How an agent is set in its conversation: what it offers is known, and what a turn names is asked for."""

import asyncio
from typing import Any, Final

from acp import schema
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS

from showcaller.actors.contract.agent_messages import AgentSpec
from showcaller.transport.worker.acp.ends import error_words
from showcaller.transport.worker.acp.opening import Opened
from showcaller.transport.worker.acp.options import (
    Change,
    NotOfferedError,
    Offer,
    changes_for,
    offer_of,
    with_mode,
)
from showcaller.transport.worker.acp.peer import AgentPeer, StrangeAnswerError

LIMIT: Final = 30.0
"""Seconds for an agent to take a mode, a model or an effort."""


class NotSetError(Exception):
    """The agent is not set as its turn wants it; the text says why. Nothing was prompted."""


class AgentSetting:
    """What the agent of one conversation offers, and how it is set. On one event loop; not thread-safe."""

    def __init__(self, peer: AgentPeer, opened: Opened, model_option: str) -> None:
        self._peer = peer
        self._native = opened.native
        self._model_option = model_option
        self.offer: Offer = offer_of(opened.modes, opened.options, model_option)

    async def set_for(self, spec: AgentSpec) -> str | None:
        """Set it as a turn wants it; gives a line that goes with the prompt, if there is one.

        Raises NotSetError, and ConnectionError when the agent has gone.
        """
        try:
            changes = changes_for(self.offer, spec.model, spec.mode, spec.effort)
        except NotOfferedError as error:
            raise NotSetError(str(error)) from error
        line = changes.instruction
        for number, change in enumerate(changes.changes):
            try:
                await self._change(change)
            except NotSetError:
                if number or not changes.mode_is_asked:
                    raise
                line = changes.fallback
        return line

    async def _change(self, change: Change) -> None:
        what = f"{change.option or 'mode'} {change.value!r}"
        try:
            async with asyncio.timeout(LIMIT):
                await self._ask_for(change)
        except TimeoutError:
            raise NotSetError(f"the agent has not taken the {what} within {LIMIT:g} s") from None
        except RequestError as error:
            raise NotSetError(
                f"the agent refused the {what}: {error_words(str(error), error.data)}"
            ) from error
        except StrangeAnswerError as error:
            raise NotSetError(str(error)) from error

    async def _ask_for(self, change: Change) -> None:
        if change.option is None:
            mode = schema.SetSessionModeRequest(session_id=self._native, mode_id=change.value)
            await self._peer.request(AGENT_METHODS["session_set_mode"], mode, schema.SetSessionModeResponse)
            self.offer = with_mode(self.offer, change.value)
            return
        option = schema.SetSessionConfigOptionSelectRequest(
            session_id=self._native, config_id=change.option, value=change.value
        )
        method = AGENT_METHODS["session_set_config_option"]
        answer = await self._peer.request(method, option, schema.SetSessionConfigOptionResponse)
        self._options_are(answer.config_options)

    def hear(self, update: Any) -> bool:
        """Take an update, if it is about how the agent is set; tells whether it was."""
        if isinstance(update, schema.CurrentModeUpdate):
            self.offer = with_mode(self.offer, update.current_mode_id)
        elif isinstance(update, schema.ConfigOptionUpdate):
            self._options_are(update.config_options)
        else:
            return False
        return True

    def _options_are(self, options: Any) -> None:
        """Take what the options are now; modes that are no option stay as they are known."""
        found = offer_of(None, options, self._model_option)
        if self.offer.modes is not None and not self.offer.mode_option:
            found = found._replace(modes=self.offer.modes, mode_option=False)
        self.offer = found
