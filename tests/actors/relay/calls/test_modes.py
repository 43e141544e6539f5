"""In which mode a prompt runs."""

import pytest

from showcaller.actors.relay.calls.modes import STRICT_TO_LOOSE, mode_of_prompt

PAIRS = [(callers, sessions) for callers in STRICT_TO_LOOSE for sessions in STRICT_TO_LOOSE]


@pytest.mark.parametrize(("callers", "sessions"), PAIRS)
def test_the_callers_mode_comes_along_and_never_loosens_a_foreign_session(
    callers: str, sessions: str
) -> None:
    assert mode_of_prompt(None, callers, sessions, started_by_caller=True) == callers
    foreign = mode_of_prompt(None, callers, sessions, started_by_caller=False)
    assert foreign in {callers, sessions}
    strictness: dict[str, int] = {mode: number for number, mode in enumerate(STRICT_TO_LOOSE)}
    assert strictness[foreign] == min(strictness[callers], strictness[sessions])


def test_a_named_mode_holds_and_the_owners_prompts_keep_the_sessions() -> None:
    assert mode_of_prompt("autopilot", "ask", "ask", started_by_caller=False) == "autopilot"
    assert mode_of_prompt(None, None, "plan", started_by_caller=False) == "plan"
