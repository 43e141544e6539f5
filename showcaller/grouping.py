"""How a Python program lists and changes groups of sessions: a part of ``Relay``."""

from collections.abc import Sequence
from typing import Any, TypeVar

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.groups import (
    DissolveGroup,
    GroupChange,
    Groups,
    NewGroup,
    OrderGroups,
    RenameGroup,
)
from showcaller.actors.contract.outside import read_request
from showcaller.actors.relay.calls import GroupRequest
from showcaller.transport.doors.local import LocalDoor

Change = TypeVar("Change", bound=GroupChange)


class Grouping:
    """The groups of a relay."""

    _door: LocalDoor

    def groups(self, *, limit: int = 100) -> dict[str, Any]:
        """List the groups of sessions there are, also the empty ones.

        Args:
            limit: how many to list at most.

        Returns:
            A result as of ``call``: ``groups``, each with ``id``, ``name``, ``madeBy``, ``memberCount``,
            ``atWork`` and ``waiting``, and ``groupsTotal``.

        """
        try:
            return self._door.watch(read_request(Groups, {"limit": limit}))
        except Refusal as refusal:
            return refusal.to_result()

    def new_group(self, name: str) -> dict[str, Any]:
        """Make a group; gives a result as of ``call``, with its id in ``group``."""
        return self._changed(NewGroup, {"title": name})

    def rename_group(self, group: str, name: str) -> dict[str, Any]:
        """Give a group, named by its id or name, another name; gives a result as of ``call``."""
        return self._changed(RenameGroup, {"group": group, "title": name})

    def dissolve_group(self, group: str) -> dict[str, Any]:
        """Forget a group, named by its id or name; its sessions stay, in none."""
        return self._changed(DissolveGroup, {"group": group})

    def order_groups(self, groups: Sequence[str]) -> dict[str, Any]:
        """Have these groups listed first, in this order; the others follow by their newest activity."""
        return self._changed(OrderGroups, {"groups": list(groups)})

    def _changed(self, model: type[Change], given: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._door.do(GroupRequest(read_request(model, given)))
        except Refusal as refusal:
            return refusal.to_result()
