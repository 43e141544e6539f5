"""The bridge's command line, and what it costs to be started."""

from pathlib import Path

import pytest

from showcaller.transport.doors.cli.home import data_folder
from showcaller.transport.doors.stdio.program import BridgeWords, bridge_words, home_folder
from tests.arch.checkout import ROOT, python_run

LOADED = """
import sys
sys.argv = ["showcaller", "mcp"]
sys.stdin.close()
import showcaller.entry
from showcaller.transport.doors.stdio import bridge, caller, carrying, output, program
from showcaller.transport.doors.http import returning
names = {name.partition(".")[0] for name in sys.modules}
print(sorted(name for name in names - sys.stdlib_module_names - {"showcaller"} if not name.startswith("_")))
print(sorted(name for name in sys.modules if name.startswith(("asyncio", "http.client", "email", "ssl"))))
"""


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["mcp"], BridgeWords(None, None)),
        (["mcp", "--name", "x"], BridgeWords(None, "x")),
        (["--home", "h", "mcp", "--name=x"], BridgeWords("h", "x")),
        (["mcp", "--home=h"], BridgeWords("h", None)),
        (["mcp", "--json", "--name", "x"], BridgeWords(None, "x")),
        (["--json", "mcp"], None),
        ([], None),
        (["--home", "mcp"], None),
        (["mcp", "--help"], None),
        (["mcp", "mcp"], None),
        (["mcp", "--name"], None),
        (["mcp", "--name="], None),
        (["--name", "x", "mcp"], None),
        (["serve"], None),
    ],
)
def test_only_a_right_command_line_of_a_bridge_is_read_as_one(
    words: list[str], read: BridgeWords | None
) -> None:
    assert bridge_words(words) == read


def test_the_data_folder_is_the_one_that_every_command_uses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("SHOWCALLER_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert home_folder(None, {}) == data_folder(None)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert home_folder(None, {"XDG_DATA_HOME": str(tmp_path)}) == data_folder(None)
    monkeypatch.setenv("SHOWCALLER_HOME", "~/somewhere")
    assert home_folder(None, {"SHOWCALLER_HOME": "~/somewhere"}) == data_folder(None)
    assert home_folder("x", {"SHOWCALLER_HOME": "y"}) == data_folder("x")


def test_the_bridge_loads_the_standard_library_alone_and_little_of_it() -> None:
    outcome = python_run("-c", LOADED, cwd=ROOT)
    others, heavy = outcome.text.splitlines()
    known = {"sitecustomize", "pywin32_system32", "distutils-precedence"}
    assert [name for name in eval(others) if name not in known] == [], others
    assert heavy == "[]"
