"""What an export tells of one message."""

from typing import Any

import pytest

from showcaller.actors.relay.transcripts import message_entry


def row(**more: Any) -> dict[str, Any]:
    blank = dict.fromkeys(
        ("via", "model", "mode", "error_text", "exit_code", "seconds", "reply_to", "truncated", "activity")
    )
    return {"id": "msg_a", "role": "user", "created_at": 1, "kind": "prompt", "text": "x", **blank, **more}


@pytest.mark.parametrize(
    ("status", "stored", "told"),
    [("done", "end", "end"), ("failed", "died", "died"), ("stopped", "end", None), ("queued", None, None)],
)
def test_a_turn_that_was_stopped_has_come_to_no_end_of_its_own(
    status: str, stored: str | None, told: str | None
) -> None:
    entry = message_entry(row(status=status, stop_reason=stored))
    assert (entry.status, entry.stop_reason) == (status, told)
