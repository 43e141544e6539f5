"""Short ways to shape a call in a test."""

from typing import TypeVar

import pytest

from showcaller.actors.contract.calls import CallModel
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.shape import ShapedCall, shape_call
from tests.actors.contract.examples import smallest

C = TypeVar("C", bound=CallModel)


def shaped(action: str, **more: object) -> ShapedCall:
    """Shape the smallest call of an action with further arguments."""
    return shape_call(smallest(action, **more))


def call_of(model: type[C], **more: object) -> C:
    """Shape the smallest call of a model's action with further arguments."""
    call = shaped(model.model_fields["action"].default, **more).call
    assert isinstance(call, model)
    return call


def refusal_of(action: str, **more: object) -> str:
    """Give the text of the refusal that such a call gets for its shape."""
    with pytest.raises(Refusal) as caught:
        shaped(action, **more)
    assert caught.value.code is Code.INVALID_INPUT
    return caught.value.error
