"""The commands of the README: one line each, and the shell understands them. CI runs them whole."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text()


def command(name: str) -> str:
    (block,) = re.findall(rf"<!-- command: {name} -->\n```sh\n(.*?)```\n", README, re.DOTALL)
    text: str = block
    return text


@pytest.mark.parametrize("name", ["main job", "tests"])
def test_a_command_is_one_line_that_the_shell_understands_and_makes_its_own_environment(name: str) -> None:
    line = command(name)
    assert line.count("\n") == 1
    assert line.startswith("python3 -m venv .venv && ")
    checked = subprocess.run(["sh", "-n", "-c", line], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_main_job_counts_the_lines_of_this_repositorys_own_python_files() -> None:
    words = shlex.split(command("main job"))
    assert words[words.index("fanout") + 1] == "wc -l {}"
    assert command("main job").rstrip().endswith("$(git ls-files '*.py')")


def test_the_tests_are_run_with_the_extra_that_they_need() -> None:
    assert ".[test]" in shlex.split(command("tests"))
    assert command("tests").rstrip().endswith("-m pytest")


def test_the_readme_says_what_it_is_for_in_five_lines() -> None:
    head = README.split("## ")[0].strip().splitlines()
    assert head[0] == "# Showcaller"
    assert len(head[2:]) == 5


def test_every_file_that_the_readme_points_to_is_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) >= 5
    assert [target for target in targets if not (REPOSITORY / Path(target)).exists()] == []
