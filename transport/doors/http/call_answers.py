"""What an answer to a call of the tool may be: each action's result, with what waits for the caller."""

from typing import Final

from pydantic import Field, create_model

from showcaller.actors.contract.actions import available_actions
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.results import GivenMessage, MessagesResult

MESSAGES: Final = "messages"
MESSAGES_SAID: Final = "What waits for the calling conversation, if it is an external one."


def _with_messages(result: type[CallResult]) -> type[CallResult]:
    """Give the model of a result that may carry messages; one that has messages of its own as it is."""
    if MESSAGES in result.model_fields:
        return result
    carried = Field(default=None, description=MESSAGES_SAID)
    return create_model(
        f"{result.__name__}WithMessages",
        __base__=result,
        __doc__=result.__doc__,
        messages=(tuple[GivenMessage, ...] | None, carried),
    )


_RESULTS: Final[list[type[CallResult]]] = [*(action.result for action in available_actions()), MessagesResult]
CALL_ANSWERS: Final = tuple(_with_messages(result) for result in dict.fromkeys(_RESULTS))
"""The models of all answers but refusals."""
