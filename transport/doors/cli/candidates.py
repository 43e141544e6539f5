"""What a name can mean that is not clear: lines that list the things, so that one of them can be named."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from showcaller.transport.doors.cli.visible import visible

SHOWN: Final = 10
Candidate = tuple[str, ...]
"""What names the thing, and then what tells a person which it is."""


def candidates_in(refusal: Mapping[str, Any]) -> list[Candidate]:
    """Give what a refusal of the relay says that a name can mean, or could: its sessions, groups or kinds."""
    named = [group for group in refusal.get("groups", ()) if "id" in group]
    groups = [(str(group["id"]), str(group.get("name") or "")) for group in named]
    single = (*refusal.get("sessions", ()), *refusal.get("kinds", ()))
    return [*groups, *((str(each),) for each in single)]


def candidate_lines(candidates: Sequence[Candidate]) -> str:
    """Give the lines that list them, a few of them and how many there are more; harmless to a terminal."""
    lines = [f"  {'  '.join(visible(cell) for cell in candidate)}" for candidate in candidates[:SHOWN]]
    if len(candidates) > SHOWN:
        lines.append(f"  and {len(candidates) - SHOWN} more")
    return "\n".join(lines)
