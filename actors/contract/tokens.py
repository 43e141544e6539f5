"""Tokens as their owner asks for them, and as everybody else tells them apart: by their hashes."""

import hashlib
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from showcaller.actors.contract.token_names import LONGEST, check_token_name

TokenKind = Literal["external", "supervisor"]
"""``external`` belongs to a conversation that the relay does not run; ``supervisor`` may also watch all."""
TokenName = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(check_token_name)]

TokenState = Literal["in_force", "revoked", "archived", "deleted"]
"""Whether it lets somebody in; the last two are what became of its conversation, with which it does not."""


class NewToken(BaseModel):
    """A token that the owner wants; with ``replace`` in the place of the one of its kind and name, if any.

    ``by_client``: nobody has asked for it, but a client that wants to come in: it gets none where the owner
    has revoked the last of its name.

    ``hash`` is that of a token that the owner has made and kept, of the form of its kind: the same again
    makes nothing new, so one whose answer was lost is asked for once more. Without it the relay makes one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: TokenKind
    name: TokenName
    replace: bool = False
    by_client: bool = False
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None


class TokenToRevoke(BaseModel):
    """A token that shall let nobody in any more; ``kind`` is needed where both kinds have the name."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: TokenName
    kind: TokenKind | None = None


def token_hash(token: str) -> str:
    """Give the SHA-256 of a token in hex, which is all that is kept of it; takes any text."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
