"""What the owner set, and nothing else."""

from tests.store.desk import Desk


def test_settings_are_kept_changed_and_taken_back(desk: Desk) -> None:
    assert desk.read("settings") == {}
    desk.value("set_setting", name="log_days", value=3)
    desk.value("set_setting", name="agent_sessions", value=False)
    desk.value("set_setting", name="log_days", value=4)
    assert desk.read("settings") == {"agent_sessions": False, "log_days": 4}
    desk.value("set_setting", name="log_days", value=None)
    assert desk.read("settings") == {"agent_sessions": False}
