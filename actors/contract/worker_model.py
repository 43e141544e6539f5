"""What all messages between a relay and its workers have in common."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

T = TypeVar("T")


class WorkerModel(BaseModel):
    """Base of every message of the worker protocol: frozen, and foreign fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Sequenced = Annotated[tuple[T, ...], BeforeValidator(_as_tuple)]
"""A tuple, which crosses a link as a list."""
