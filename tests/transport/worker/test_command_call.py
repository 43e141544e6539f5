"""Commands too long for an argument run like any others, up to what a prompt may hold."""

import shlex
from pathlib import Path

import pytest

from showcaller.transport.worker.command_call import LONGEST_ARGUMENT, SHELL, shell_for
from tests.transport.worker.stage import Stage


@pytest.mark.parametrize("character", ["x", "é", "\U0001f4e1"])
async def test_a_text_of_the_most_characters_runs_whatever_they_weigh(stage: Stage, character: str) -> None:
    text = character * 99_990
    end = await stage.run(f"echo {text} | wc -c")
    assert (end.outcome, end.reply) == ("done", f"{len(text.encode()) + 1}\n"), end.error_text


async def test_a_long_command_has_its_folder_its_variables_its_exit_code_and_no_input(
    stage: Stage, tmp_path: Path
) -> None:
    padding = f": {shlex.quote('y' * 200_000)}"
    text = f"pwd; cat; echo $WHO; {padding}; exit 3"
    end = await stage.run(text, cwd=str(tmp_path), environment={"WHO": "me"})
    assert (end.reply, end.exit_code) == (f"{tmp_path}\nme\n", 3)


def test_what_fits_is_an_argument_and_what_does_not_is_a_file_that_nobody_else_can_name() -> None:
    fits = "x" * LONGEST_ARGUMENT
    with shell_for(fits) as short:
        assert short.arguments == (SHELL, "-c", fits)
    with shell_for(fits + "x") as long:
        (descriptor,) = long.descriptors
        assert long.arguments == (SHELL, f"/dev/fd/{descriptor}")
