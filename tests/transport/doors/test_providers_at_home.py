"""What a data folder says of providers."""

import os
from pathlib import Path

import pytest

from showcaller.actors.contract.handshakes import Handshake
from showcaller.transport.doors.providers_at_home import (
    HANDSHAKES,
    MOST_OF_OWNERS,
    OWNERS,
    catalogue_at,
    handshakes_at,
    keep_handshake,
)
from showcaller.transport.doors.start_error import RelayStartError

HANDSHAKE = Handshake(command=("claude-agent-acp",), version="1", at=1)


def test_without_a_file_there_is_what_comes_with_the_package(tmp_path: Path) -> None:
    assert catalogue_at(tmp_path).find("claude") is not None
    assert catalogue_at(tmp_path / "nowhere").find("claude") is not None


def test_the_owners_file_adds_a_provider(tmp_path: Path) -> None:
    (tmp_path / OWNERS).write_text('[providers.mine]\nlabel = "Mine"\ncommand = ["mine"]\n')
    assert catalogue_at(tmp_path).find("mine") is not None


def test_a_file_with_a_mistake_is_refused_by_its_path_and_key(tmp_path: Path) -> None:
    (tmp_path / OWNERS).write_text("[providers.mine]\nlabel = 1\n")
    with pytest.raises(RelayStartError, match=f"{tmp_path / OWNERS}: providers.mine.(label|command)"):
        catalogue_at(tmp_path)


@pytest.mark.parametrize("content", [b"\xff", b"#" * (MOST_OF_OWNERS + 1)])
def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / OWNERS).write_bytes(content)
    with pytest.raises(RelayStartError, match="The catalogue"):
        catalogue_at(tmp_path)


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / OWNERS)
    os.mkfifo(tmp_path / HANDSHAKES)
    with pytest.raises(RelayStartError, match="it is a pipe"):
        catalogue_at(tmp_path)
    assert handshakes_at(tmp_path) == {}


def test_a_handshake_is_kept_beside_those_of_others_for_its_owner_alone(tmp_path: Path) -> None:
    keep_handshake(tmp_path, "claude", HANDSHAKE)
    keep_handshake(tmp_path, "codex", HANDSHAKE)
    keep_handshake(tmp_path, "claude", HANDSHAKE.model_copy(update={"version": "2"}))
    kept = handshakes_at(tmp_path)
    assert (kept["claude"].version, kept["codex"].version) == ("2", "1")
    assert (tmp_path / HANDSHAKES).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [HANDSHAKES]
