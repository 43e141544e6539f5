"""Every block of Python in the guides runs, and prints what the guide shows."""

import shlex
from pathlib import Path

import click
import pytest

from bench import __main__ as bench
from bench import catalogue
from bench.peer import by_name
from tests.docs import blocks
from tests.docs.blocks import Block

pytestmark = pytest.mark.slow

GUIDES = [pytest.param(guide, id=guide.stem) for guide in blocks.guides()]


def of(guide: Path) -> list[Block]:
    """Read the blocks of a guide."""
    return blocks.read(guide.read_text(encoding="utf-8"))


def single(word: str) -> list[object]:
    """List the blocks of all guides that run by themselves, for parameters."""
    return [
        pytest.param(block, id=f"{guide.stem}-line-{block.line}")
        for guide in blocks.guides()
        for block in of(guide)
        if block.info.startswith("python ") and (block.info == "python program") == (word == "program")
    ]


def check(block: Block, printed: str) -> None:
    """Compare what was printed with what the guide shows below."""
    if block.shown is None:
        assert printed == "", f"line {block.line} prints something that the guide does not show"
    else:
        assert block.shown.agrees(printed), f"line {block.line} prints:\n{printed}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_blocks_of_a_guide_run_one_after_the_other(guide: Path) -> None:
    continued = [block for block in of(guide) if block.info == "python"]
    printed = blocks.session(guide, continued)
    assert len(printed) == len(continued)
    for block, text in zip(continued, printed, strict=True):
        check(block, text)


@pytest.mark.parametrize("block", single("program"))
def test_a_program_of_a_guide_runs_by_itself(block: Block) -> None:
    check(block, blocks.program(block))


@pytest.mark.parametrize("block", single("tests"))
def test_the_tests_of_a_guide_pass(block: Block, tmp_path: Path) -> None:
    assert " passed" in blocks.tests(block, tmp_path)


def understood(line: str) -> bool:
    """Say whether a command that a guide shows would be taken as it stands; nothing is measured."""
    prompt, python, option, module, *words = shlex.split(line, comments=True)
    assert [prompt, python, option, module] == ["$", "python", "-m", "bench"], line
    with bench.main.make_context("python -m bench", words) as context:
        names = context.params["names"]
        peers = context.params["peer_names"].split(",")
    if names != ("list",):
        catalogue.chosen(names)
    return all(by_name(peer) for peer in peers if peer != "none")


@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_that_a_guide_shows_are_understood(guide: Path) -> None:
    for block in of(guide):
        if block.info == "console":
            assert [line for line in block.text.splitlines() if not understood(line)] == []


@pytest.mark.parametrize("line", ["$ python -m bench nonsense", "$ python -m bench ring --peers nobody"])
def test_a_command_that_names_what_is_not_there_is_found(line: str) -> None:
    with pytest.raises(KeyError):
        understood(line)


def test_a_command_with_an_option_that_is_not_there_is_found() -> None:
    with pytest.raises(click.UsageError):
        understood("$ python -m bench ring --fast")


ELSEWHERE = {
    "run-as-a-service": ("sh", "ini", "xml"),
    "fan-out-a-job": ("sh",),
    "delegate-from-claude-code": ("sh", "json"),
    "run-agents": ("sh", "toml"),
}
"""Blocks of guides that have a test module of their own."""


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_has_no_block_that_nobody_runs(guide: Path) -> None:
    runs = ("python", "text", "console", *ELSEWHERE.get(guide.stem, ()))
    assert [block.info for block in of(guide) if not block.info.startswith(runs)] == []


def test_the_guide_spawns_a_hundred_thousand_actors_in_twenty_lines() -> None:
    (block,) = [block for guide in blocks.guides() for block in of(guide) if block.info == "python program"]
    assert "100_000" in block.text
    assert len(block.text.splitlines()) <= 20


def test_shown_output_must_agree_to_the_letter_unless_numbers_vary() -> None:
    exact = Block("text", "took 0.31 s\n", 1)
    varying = Block("text numbers vary", "100,000 actors took 0.31 s\n", 1)
    assert exact.agrees("took 0.31 s\n")
    assert not exact.agrees("took 0.32 s\n")
    assert varying.agrees("100,000 actors took 12.07 s\n")
    assert not varying.agrees("100,000 actors failed\n")


def test_a_block_that_fails_is_reported_with_its_line_in_the_guide() -> None:
    guide = blocks.GUIDES / "made-up.md"
    with pytest.raises(AssertionError, match=r'made-up\.md", line 7'):
        blocks.session(guide, [Block("python", "print(1)\n", 3), Block("python", "1 / 0\n", 7)])
