"""What every call and every result have in common."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from showcaller.actors.contract.arguments import RelayName
from showcaller.actors.contract.views import ResultModel


class CallModel(BaseModel):
    """Base of every call: frozen, and foreign fields are refused.

    ``nothing`` says in a refusal what did not happen; with ``refuses_foreign`` an argument that the action
    does not take is refused, else it is ignored and listed; ``one_of`` names arguments of which at least one
    must be given; ``not_external`` names what every caller but an external session must give.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_by_name=True, validate_by_alias=True
    )

    nothing: ClassVar[str] = ""
    refuses_foreign: ClassVar[bool] = False
    one_of: ClassVar[tuple[str, ...]] = ()
    not_external: ClassVar[frozenset[str]] = frozenset()


class RelayCall(CallModel):
    """Base of the calls that must name the relay to work on."""

    relay: RelayName = Field(
        description="The relay to work on: \"this\", a relay's name or a pairing's alias."
    )


class OwnRelayCall(CallModel):
    """Base of the calls that mean this relay when they name none."""

    relay: RelayName = Field(
        default="this", description="The relay to work on: \"this\", a relay's name or a pairing's alias."
    )


class CallResult(ResultModel):
    """What every success says: the ``relay`` worked on, a ``summary`` in one line, and what was not as sent.

    ``note`` is one or more sentences; ``ignored`` names arguments that the action does not take.
    """

    ok: Literal[True] = True
    relay: str
    summary: str
    note: str | None = None
    ignored: tuple[str, ...] | None = None

    def to_result(self) -> dict[str, Any]:
        """Give the JSON object that the caller reads."""
        return self.model_dump(mode="json", by_alias=True)
