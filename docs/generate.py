"""Write the references from docstrings and from what the program says: ``python -m docs.generate``."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from docs.commands_reference import commands_reference
from docs.settings_reference import settings_reference
from docs.source_text import Entry, Package, read_module, read_package
from docs.tool_reference import tool_reference

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "actors" / "runtime"
TARGET = ROOT / "docs" / "reference" / "runtime.md"
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
TOOL = ROOT / "docs" / "reference" / "relay-tool.md"
SETTINGS = ROOT / "docs" / "reference" / "settings.md"
PACKAGE = "showcaller.actors.runtime"
INTERNAL = {
    # Members without an underscore, because other modules of the runtime use them, that nobody else needs.
    "BaseDispatcher": "schedule wait_for refuse_wait refuse_start pin unpinned will_run dead_letter "
    "late_reply counters_of",
    "ChildSpec": "recipe",
    "Counters": "note_backlog note_slice",
    "Dispatcher": "schedule refuse_start pin adopt forget_pinned pinned_ended busy work_waits take_over "
    "is_blocked will_run wait_for",
    "Future": "decide announce computed try_set_get_hook forget_callback",
    "ManualDispatcher": "refuse_wait schedule will_run wait_for owed_elsewhere",
    "RestartIntensity": "note",
    "Timers": "expire wake follow_wall next_look sleep_until seconds_until awake fire_due give_up",
}
HEAD = f"""\
# Reference: the runtime

Written from the docstrings by `python -m docs.generate`; change them there. Everything below is imported
from `{PACKAGE}`, the test kit from `{PACKAGE}.testkit`.
Times are in seconds unless a name says otherwise. What an actor, a ref or a future inherits unchanged from
pykka (`proxy`, `actor_class`, `get_all`…) is described in [pykka's
reference](https://pykka.readthedocs.io/); [Coming from pykka](../guides/coming-from-pykka.md) lists what
differs.
"""


def reference() -> str:
    """Give the whole text."""
    package = read_package(RUNTIME / "__init__.py")
    modules = {path.stem: read_module(path) for path in sorted(RUNTIME.glob("*.py"))}
    own, foreign = _sorted_out(package)
    entries = [modules[module][name] for name, module in own if name in modules[module]]
    kit = read_module(RUNTIME / "testkit.py").values()
    parts = [
        HEAD,
        _section("Names", entries),
        f"## Names of pykka\n\nGiven on as they are: {', '.join(f'`{name}`' for name in foreign)}.\n",
        _section("The test kit", [entry for entry in kit if entry.text and entry.name not in package.names]),
    ]
    return "\n".join(parts)


def _sorted_out(package: Package) -> tuple[list[tuple[str, str]], list[str]]:
    """Tell our own names, each with its module's stem, from those of pykka."""
    own = [
        (name, origin.rpartition(".")[2])
        for name, origin in ((name, package.origins.get(name, "")) for name in package.names)
        if origin.startswith(f"{PACKAGE}.")
    ]
    names = {name for name, _ in own}
    return own, [name for name in package.names if name not in names]


def _section(title: str, entries: list[Entry]) -> str:
    return "\n".join([f"## {title}\n", *(line for entry in entries for line in _entry(entry))])


def _entry(entry: Entry) -> Iterator[str]:
    yield f"### {entry.name}\n"
    if entry.signature != entry.name:
        yield f"```text\n{entry.signature}\n```\n"
    if entry.bases:
        yield f"Based on {', '.join(f'`{base}`' for base in entry.bases)}.\n"
    if entry.text:
        yield f"{markdown(entry.text)}\n"
    for member in public(entry):
        yield f"- **`{member.signature}`**  "
        yield re.sub("^(?=.)", "  ", markdown(member.text), flags=re.MULTILINE) + "\n"


def public(entry: Entry) -> list[Entry]:
    """Give the members that are for whoever uses the runtime."""
    internal = INTERNAL.get(entry.name, "").split()
    return [member for member in entry.members if member.name not in internal]


def markdown(docstring: str) -> str:
    """Turn the marks of a docstring into those of Markdown: code in one backtick, examples fenced."""
    text = re.sub(r"``(.+?)``", r"`\1`", docstring, flags=re.DOTALL)
    return re.sub(r"^::\n\n((?:(?: {4}.*)?\n)+(?: {4}.*)?)", _fenced, text, flags=re.MULTILINE)


def _fenced(example: re.Match[str]) -> str:
    lines = [line.removeprefix("    ") for line in example[1].rstrip().splitlines()]
    return "\n".join(["```text", *lines, "```", "", ""])


REFERENCES: dict[Path, Callable[[], str]] = {
    TARGET: reference,
    COMMANDS: commands_reference,
    SETTINGS: settings_reference,
    TOOL: tool_reference,
}
"""Each reference and what writes it."""


@click.command(help=__doc__)
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when the reference is out of date.")
def main(check: bool) -> None:
    """Write or check."""
    outdated = False
    for target, write in REFERENCES.items():
        text = write()
        if not check:
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            click.echo(f"{target.relative_to(ROOT)} is out of date: run python -m docs.generate", err=True)
            outdated = True
    sys.exit(outdated)


if __name__ == "__main__":
    main(prog_name="python -m docs.generate")
