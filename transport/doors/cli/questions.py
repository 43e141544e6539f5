"""A question of an agent as the commands show it, with how to answer it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from showcaller.actors.contract.summaries import counted
from showcaller.transport.doors.cli.relay import Door
from showcaller.transport.doors.cli.visible import readable, visible
from showcaller.transport.doors.http.whereabouts import running_relay


def question_lines(door: Door, question: Mapping[str, Any], labels: Sequence[str]) -> Iterator[str]:
    """Give the lines that show a person a question, as the inbox or a session has it, and how to answer."""
    for line in readable(str(question["question"])).strip().splitlines():
        yield f"  {line}"
    for line in readable(str(question.get("detail") or "")).splitlines():
        yield f"    {line}"
    shown = [visible(str(label)) for label in labels]
    yield from (f"  - {label}" for label in shown)
    yield f"  {_way_to_answer(door, question, shown)}"


def pending_lines(door: Door, result: Mapping[str, Any]) -> Iterator[str]:
    """Give the lines for the questions and approvals on which a result says that a session waits."""
    for question in result.get("pendingQuestions") or ():
        yield f"{question['id']}  {question['kind']}"
        yield from question_lines(door, question, question.get("options", ()))
    if approvals := result.get("approvalsPending"):
        yield f"  {counted(int(approvals), 'approval')} of what it wants to do: {door.command_line('inbox')}"


def _way_to_answer(door: Door, question: Mapping[str, Any], labels: Sequence[str]) -> str:
    if running_relay(door.home) is None:
        return f"It can be answered where a relay runs: {door.command_line('serve')}"
    card = str(question["id"])
    if question.get("form"):
        dismiss = door.command_line("answer", card, "--dismiss")
        return f"A form, which cannot be filled in here; without an answer: {dismiss}"
    given = [labels[0]] if labels else ["--text", "..."]
    more = " (several may be given)" if question.get("multiSelect") else ""
    more += " (or --text ...)" if labels and question.get("allowFreeform") else ""
    return f"To answer: {door.command_line('answer', card, *given)}{more}"
