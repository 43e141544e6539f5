"""The map of the code names what is there."""

import re

from tests.docs.blocks import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(?:actors/runtime/)?(\w+\.py)`", TEXT))


def test_every_file_of_the_runtime_is_on_the_map() -> None:
    files = {path.name for path in (ROOT / "actors" / "runtime").glob("*.py")} - {"__init__.py"}
    assert files - NAMED == set()


def test_the_map_of_the_runtime_names_no_file_that_is_gone() -> None:
    section = TEXT.partition("Its files, by what they are about:")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+\.py)`", section))
    assert {name for name in named if not (ROOT / "actors" / "runtime" / name).exists()} == set()
    assert len(named) > 40


def test_every_page_that_a_page_leads_to_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []
