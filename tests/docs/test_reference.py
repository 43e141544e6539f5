"""The reference is what the docstrings say, and every public name has one."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from docs import generate
from docs.generate import COMMANDS, REFERENCES, RUNTIME, TARGET, TOOL, markdown, reference
from docs.result_shapes import Shape
from docs.source_text import read_module, read_package
from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.calls.sessions import TaskHead
from showcaller.actors.contract.results import PromptResult
from showcaller.transport.doors.cli import group


@pytest.mark.parametrize("target", REFERENCES, ids=lambda path: path.name)
def test_every_reference_is_up_to_date(target: Path) -> None:
    told = "run python -m docs.generate, and look at what changed"
    assert target.read_text(encoding="utf-8") == REFERENCES[target](), told


def test_every_reference_that_there_is_is_written_by_the_program() -> None:
    assert set(TARGET.parent.iterdir()) == set(REFERENCES)


def test_the_reference_of_the_commands_has_every_command() -> None:
    text = COMMANDS.read_text(encoding="utf-8")
    assert [name for name in group.COMMANDS if f"\n### showcaller {name}\n" not in text] == []
    assert "\n#### showcaller settings set\n" in text


def test_the_reference_of_the_tool_has_every_action_with_its_arguments_and_says_what_is_not_there() -> None:
    parts = re.split(r"^## (\w+)$", TOOL.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for name, action in ACTIONS.items():
        assert [arg for arg in action.arguments if f"\n| `{arg}` |" not in sections[name]] == [], name
        assert ("*Not there yet.*" in sections[name]) is not action.available
    assert "| `limit` | 1 to 100 | `20` |" in sections["list_sessions"]
    assert "| `text` | text, at most 100,000 | required |" in sections["send"]
    assert "| [`wait`](#wait) | read |  |  |  |" in parts[0]
    assert "| [`usage`](#usage) | read |  |  | not there yet |" in parts[0]
    links = set(re.findall(r"\]\(#(\w+)\)", TOOL.read_text(encoding="utf-8")))
    headings = re.findall(r"^#+ (\w+)$", TOOL.read_text(encoding="utf-8"), re.MULTILINE)
    assert links - {heading.lower() for heading in headings} == set()


@pytest.mark.parametrize(
    "result",
    [
        PromptResult(relay="x", summary="x", session="ses_1", message_id="msg_1", status="queued"),
        TaskHead(id="tsk_1", description="", type="command", status="running", started_at=0),
    ],
)
def test_what_may_be_left_out_of_a_result_is_what_a_result_leaves_out(result: BaseModel) -> None:
    shape = Shape(type(result))
    always = {name for name in shape.fields if not shape.may_leave_out(name)}
    assert set(result.model_dump(mode="json", by_alias=True)) == always


def test_the_reference_names_everything_that_the_runtime_gives_away() -> None:
    package = read_package(RUNTIME / "__init__.py")
    text = reference()
    missing = [name for name in package.names if f"### {name}\n" not in text and f"`{name}`" not in text]
    assert missing == []
    assert {"Actor", "ActorRef", "Future", "Dispatcher"} <= set(package.names)


def test_every_public_class_and_function_says_what_it_is() -> None:
    package = read_package(RUNTIME / "__init__.py")
    silent = []
    for name in package.names:
        module = RUNTIME / f"{package.origins[name].rpartition('.')[2]}.py"
        if package.origins[name].startswith(generate.PACKAGE):
            entry = read_module(module)[name]
            silent += [name] if " = " not in entry.signature.partition("(")[0] and not entry.text else []
    assert silent == []


def test_marks_of_docstrings_become_marks_of_markdown() -> None:
    docstring = "Wait for ``get()``.\n\n::\n\n    with a:\n        b()\n\nThe end."
    assert markdown(docstring) == "Wait for `get()`.\n\n```text\nwith a:\n    b()\n```\n\nThe end."


def test_what_is_asked_of_a_supervisor_is_shown_with_what_it_takes() -> None:
    text = reference()
    for wanted in (
        "GetChild(name: str)",
        "StopChild(name: str)",
        "RestartChild(name: str)",
        "ListChildren()",
    ):
        assert f"```text\n{wanted}\n```" in text, wanted
    assert "`_Named`" not in text


def test_what_the_reference_leaves_out_is_there_to_be_left_out() -> None:
    modules = [read_module(path) for path in sorted(RUNTIME.glob("*.py"))]
    entries = {name: entry for module in modules for name, entry in module.items()}
    for name, internal in generate.INTERNAL.items():
        assert set(internal.split()) <= {member.name for member in entries[name].members}, name


def test_the_reference_has_what_a_user_reads_and_not_what_the_runtime_does_for_itself() -> None:
    text = reference()
    for wanted in ("dead_letters", "late_replies", "clock: Clock", "received: list[Any]", "drop_oldest"):
        assert wanted in text, wanted
    for internal in ("pinned_ended", "run_slice", "sleep_until"):
        assert internal not in text, internal
