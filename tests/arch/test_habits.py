"""What reviews would otherwise have to ask for again and again."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.arch.checkout import ROOT, modules, texts


def calls(path: Path, name: str) -> Iterator[ast.Call]:
    """Find the calls of ``name(…)`` and ``anything.name(…)`` in a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            if (isinstance(called, ast.Attribute) and called.attr == name) or (
                isinstance(called, ast.Name) and called.id == name
            ):
                yield node


def lets_others_run(call: ast.Call) -> bool:
    """Tell ``sleep(0)``, which waits for nothing, from a sleep that does."""
    return [ast.unparse(argument) for argument in call.args] == ["0"]


def test_no_test_sleeps_in_order_to_wait() -> None:
    sleeping = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in modules()
        if path.is_relative_to(ROOT / "tests")
        for call in calls(path, "sleep")
        if not lets_others_run(call)
    ]
    assert sleeping == []


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in modules() if path.is_relative_to(ROOT / "tests")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def mirroring() -> set[str]:
    """Name the folders of tests that claim to mirror a folder of code."""
    mirrors = ("actors", "transport", "store")
    folders = {
        path.parent.relative_to(ROOT / "tests") for path in modules() if path.is_relative_to(ROOT / "tests")
    }
    return {str(folder) for folder in folders if folder.parts and folder.parts[0] in mirrors}


def test_tests_mirror_the_folders_that_they_test() -> None:
    assert [folder for folder in mirroring() if not (ROOT / folder).is_dir()] == []


def test_no_text_holds_the_marks_of_a_merge_that_was_not_finished() -> None:
    marks = ("<" * 7 + " ", ">" * 7 + " ")
    unfinished = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.startswith(marks)
    ]
    assert unfinished == []
