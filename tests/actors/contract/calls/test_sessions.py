from typing import Any

import pytest

from showcaller.actors.contract.calls import Archive, ReadTaskOutput, Stop, UpdateSession
from showcaller.actors.contract.calls.sessions import (
    ArchiveResult,
    ReadTaskOutputResult,
    SessionSettings,
    Stall,
    StopResult,
    TaskHead,
    UpdateSessionResult,
)
from showcaller.actors.contract.views import TaskCounts
from tests.actors.contract.examples import SESSION
from tests.actors.contract.shaping import call_of, refusal_of, shaped

SETTINGS = "model, effort, mode, title, group, cwd, auto_compact_window, thinking_enabled, thinking_display"


class TestReadTaskOutput:
    def test_fifty_lines_come_unless_it_says_how_many(self) -> None:
        assert call_of(ReadTaskOutput).lines == 50
        assert call_of(ReadTaskOutput, lines=500).lines == 500
        assert shaped("read_task_output", lines=501).notes == (
            "lines 501 was taken as 500 (range 1 to 500).",
        )

    def test_the_result_says_that_a_task_has_no_exit_code_yet(self) -> None:
        result = ReadTaskOutputResult(
            relay="desk",
            summary="read_task_output → desk",
            task=TaskHead(
                id="tsk_000000000000", description="pytest", type="shell", status="running", started_at=0
            ),
            tail=("1 passed [×3]",),
            truncated=True,
            stall=Stall(minutes=14, since=0, quiet=True, quiet_after_minutes=10),
            counts=TaskCounts(runner="pytest", passed=412, failed=2, skipped=0, final=False),
        ).to_result()
        assert result["task"]["exitCode"] is None
        assert result["task"]["startedAt"] == "1970-01-01T00:00:00.000Z"
        assert result["stall"]["quietAfterMinutes"] == 10
        assert result["tail"] == ["1 passed [×3]"]


class TestUpdateSession:
    def test_a_call_without_a_setting_is_refused_with_the_settings(self) -> None:
        assert refusal_of("update_session", title="") == (
            f"update_session: needs at least one of {SETTINGS}. Nothing was changed."
        )

    def test_a_foreign_argument_is_refused_and_nothing_is_changed(self) -> None:
        assert refusal_of("update_session", text="Hello", mayCreateSessions=True) == (
            "update_session does not take: text, mayCreateSessions. Its arguments: relay, session, "
            f"{SETTINGS}. Nothing was changed."
        )

    def test_empty_and_false_foreign_arguments_count_as_absent(self) -> None:
        assert call_of(UpdateSession, text="", once=False, sessions=[]) == call_of(UpdateSession)

    @pytest.mark.parametrize(
        ("name", "sent", "taken"),
        [
            ("thinking_enabled", False, False),
            ("thinking_enabled", "False", False),
            ("thinking_enabled", True, True),
            ("thinking_display", "Summarized", "summarized"),
            ("auto_compact_window", " AUTO ", "auto"),
            ("auto_compact_window", "400000", 400_000),
            ("auto_compact_window", 0, 0),
            ("group", "none", "none"),
            ("effort", "High", "high"),
            ("mode", "AUTOPILOT", "autopilot"),
        ],
    )
    def test_each_setting_alone_is_enough(self, name: str, sent: object, taken: object) -> None:
        assert getattr(call_of(UpdateSession, title=None, **{name: sent}), name) == taken

    def test_a_window_beyond_its_range_is_clamped_with_a_note(self) -> None:
        assert shaped("update_session", auto_compact_window=-1).notes == (
            "auto_compact_window -1 was taken as 0 (range 0 to 10000000).",
        )
        assert "whole number" in refusal_of("update_session", auto_compact_window="wide")

    def test_the_result_shows_all_settings_and_names_what_changed(self) -> None:
        result = UpdateSessionResult(
            relay="desk",
            summary="update_session → desk session 3f9c2a1e: model",
            session=SESSION,
            settings=SessionSettings(mode="agent", title="Review", model="m", thinking_enabled=False),
            changed=("model", "thinking_enabled"),
        ).to_result()
        assert result["settings"] == {
            "model": "m",
            "effort": None,
            "mode": "agent",
            "autoCompactWindow": None,
            "title": "Review",
            "group": None,
            "thinkingEnabled": False,
            "thinkingDisplay": None,
            "cwd": None,
        }
        assert result["changed"] == ["model", "thinking_enabled"]


@pytest.mark.parametrize(
    ("action", "model", "nothing"),
    [("stop", Stop, "Nothing was stopped."), ("archive", Archive, "Nothing was archived.")],
)
def test_stopping_and_archiving_name_a_session(
    action: str, model: type[Stop | Archive], nothing: str
) -> None:
    assert call_of(model).session == SESSION
    assert refusal_of(action, session=None) == f"{action}: needs session. {nothing}"


def test_the_results_say_what_was_done() -> None:
    common: dict[str, Any] = {"relay": "desk", "summary": "x", "session": SESSION}
    assert StopResult(**common, stop_requested=False).to_result()["stopRequested"] is False
    assert ArchiveResult(**common).to_result()["archived"] is True
