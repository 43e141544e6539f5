"""The port of the relay before is known to the next one, unless what says so says nothing."""

from pathlib import Path

import pytest

from showcaller.transport.doors.http.last_port import FILE, last_port, remember_port


def test_the_port_is_kept_for_the_next_relay(tmp_path: Path) -> None:
    assert last_port(tmp_path) == 0
    for port in (8321, 8322):
        remember_port(tmp_path, port)
        assert last_port(tmp_path) == port
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "x", "-1", "0", "65536", "8" * 100])
def test_what_is_no_port_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    assert last_port(tmp_path) == 0


def test_a_folder_in_its_place_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert last_port(tmp_path) == 0
