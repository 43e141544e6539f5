"""What is known of an agent is checked before anything is started with it."""

from typing import Any

import pytest
from pydantic import ValidationError

from showcaller.actors.contract.agent_entries import AgentEntry


def entry(**fields: Any) -> AgentEntry:
    return AgentEntry.model_validate({"name": "fake", "label": "Fake", "command": ("fake", "acp"), **fields})


def test_an_entry_needs_a_name_a_label_and_a_command() -> None:
    known = entry()
    assert known.command == ("fake", "acp")
    assert known.agents_may_start
    assert known.model_option == "model"
    assert [known.loads, known.resumes, known.steers, known.patient] == [False] * 4


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Fake"},
        {"name": ""},
        {"label": "two\nlines"},
        {"command": ()},
        {"command": ("with\0nul",)},
        {"environment": {"A=B": "c"}},
        {"environment": {"": "c"}},
        {"environment": {"A": "\0"}},
        {"mcp": "sse"},
        {"takes": "anything"},
        {"kill_grace": -1},
        {"foreign": True},
    ],
)
def test_what_no_program_could_be_started_with_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        entry(**fields)
