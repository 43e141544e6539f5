"""The files that the guide shows for services are what systemd and launchd take, and start what there is."""

import configparser
import plistlib
import re
import shlex
from collections.abc import Sequence

import click

from showcaller.transport.doors.cli.commands.serve import command
from tests.docs.blocks import ROOT

TEXT = (ROOT / "docs" / "guides" / "run-as-a-service.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return str(found)


def served(words: Sequence[str]) -> click.Context:
    """Parse what a service starts."""
    program, name, *options = words
    assert program.endswith("/bin/showcaller")
    assert name == "serve"
    return command.make_context("serve", list(options))


def test_the_unit_of_systemd_starts_the_relay_and_waits_for_its_word() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read_string(block("ini"))
    assert unit["Service"]["Type"] == "notify"
    assert served(shlex.split(unit["Service"]["ExecStart"])).params["log"] == "json"


def test_the_list_of_launchd_starts_the_relay() -> None:
    agent = plistlib.loads(block("xml").encode())
    assert served(agent["ProgramArguments"]).params["log"] == "json"


def test_every_command_of_ours_that_the_guide_shows_is_understood() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    shown = [
        shlex.split(line, comments=True)
        for line in re.findall(r"^showcaller .*$", "".join(blocks), re.MULTILINE)
    ]
    assert shown
    for _, name, *options in shown:
        assert name == "serve"
        command.make_context(name, list(options))
