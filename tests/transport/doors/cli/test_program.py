"""The words that call the program again."""

import sys
from pathlib import Path

import pytest

from showcaller.transport.doors.cli.program import program_words


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in a folder that the shell searches."""
    program = tmp_path / "bin" / "showcaller"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def test_a_program_that_the_shell_finds_is_called_by_its_name(installed: Path) -> None:
    assert program_words(str(installed)) == ("showcaller",)
    assert program_words("showcaller") == ("showcaller",)


def test_a_path_is_called_as_it_was_typed(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed.exists()
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / ".venv" / "showcaller"
    elsewhere.parent.mkdir()
    elsewhere.write_text("#!/bin/sh\n")
    assert program_words(".venv/showcaller") == (".venv/showcaller",)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("/lib/showcaller/__main__.py", (sys.executable, "-m", "showcaller")),
        ("-c", ("showcaller",)),
        ("", ("showcaller",)),
    ],
)
def test_without_a_program_file_it_is_called_in_a_way_that_works(typed: str, words: tuple[str, ...]) -> None:
    assert program_words(typed) == words
