"""The token that a client finds in its environment."""

from pathlib import Path

import pytest

from showcaller.transport.doors.client_token import TokenRefused, told_token
from showcaller.transport.doors.stdio import caller
from showcaller.transport.doors.stdio.caller import Access, BridgeCaller, ShutOut

GOOD = "sct_ses_1.msg_2.Ab-c_9"
BAD = [" ", "a b", "sce_x\r\nhost: y", "sce_\u20ac", "sce_\u00e9", "sce_\x00"]


def test_a_token_is_taken_without_the_line_end_that_a_file_has_left_behind_it() -> None:
    assert told_token(GOOD) == GOOD
    assert told_token(f" {GOOD}\r\n") == GOOD


@pytest.mark.parametrize("value", BAD)
def test_what_can_be_no_token_is_refused_by_the_name_of_its_variable(value: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        told_token(value)
    assert "SHOWCALLER_TOKEN" in refused.value.message
    assert "sce_" not in refused.value.message


def test_a_bridge_with_such_a_token_asks_no_relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "relay_port", lambda _: 7)
    assert BridgeCaller(tmp_path, None, f"{GOOD}\r").access() == Access(7, GOOD)
    with pytest.raises(ShutOut, match="SHOWCALLER_TOKEN"):
        BridgeCaller(tmp_path, None, "sce_x\r\nhost: y").access()
