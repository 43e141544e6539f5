"""What commands say that need a relay while one is starting."""

from pathlib import Path

import pytest

from showcaller.data_folder import DataFolder
from showcaller.transport.doors.holder import phase_text
from tests.transport.doors.cli.conftest import ShowCaller

CALL = '{"action": "list_relays"}'


@pytest.mark.parametrize("words", [("call", "--name", "claude", CALL), ("call", CALL), ("inbox",)])
def test_one_that_is_starting_is_to_be_waited_for(
    showcaller: ShowCaller, home: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOWCALLER_TOKEN", raising=False)
    with DataFolder(home).lock() as held:
        held.tell(phase_text("starting"))
        ended = showcaller(*words)
    assert ended.code == 3
    assert "is starting: wait until it listens" in ended.err
    assert "No relay runs" not in ended.err
