"""The public names are the same for whoever looks, and files are named and sized as agreed."""

import ast
import re
from pathlib import Path

import pytest

import showcaller
from tests.arch.checkout import ROOT, modules, texts

FRONT_DOOR = ROOT / "showcaller" / "__init__.py"
NO_NOUNS = {"utils", "util", "common", "helpers", "helper", "misc"}
LONGEST_MODULE = 400


def names_for_checkers() -> set[str]:
    """Read the names that type checkers and editors see: what is imported under TYPE_CHECKING."""
    tree = ast.parse(FRONT_DOOR.read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.asname or alias.name
        for block in guarded
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_all_dir_and_checkers_name_the_same() -> None:
    assert sorted(showcaller.__all__) == dir(showcaller)
    assert names_for_checkers() | {"__version__"} == set(showcaller.__all__)


@pytest.mark.parametrize("name", showcaller.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(showcaller, name) is getattr(showcaller, name)


def test_an_unknown_name_is_refused_with_what_there_is() -> None:
    unknown = "Stage"
    with pytest.raises(AttributeError, match="no attribute 'Stage'; it offers Actor, FanoutSpec, "):
        getattr(showcaller, unknown)


def test_modules_fit_in_the_head() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {str(path): count for path, count in lengths.items() if count > LONGEST_MODULE} == {}


def test_modules_are_nouns() -> None:
    assert [str(path) for path in modules() if NO_NOUNS & {path.stem, path.parent.name}] == []


def test_nothing_names_the_machine_that_it_was_written_on() -> None:
    places = re.compile(r"/(?:work|root|home)/|pypi[.]org|python[h]osted")
    found = {str(path.relative_to(ROOT)): places.findall(readable(path)) for path in texts()}
    assert {path: names for path, names in found.items() if names} == {}


def readable(path: Path) -> str:
    """Give a file's text, with what is not text replaced."""
    return path.read_text(encoding="utf-8", errors="replace")
