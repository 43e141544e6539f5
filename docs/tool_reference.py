"""The reference of the tool: what its table of actions and the models of calls and results say."""

from collections.abc import Iterator, Mapping
from typing import Any

from docs.result_shapes import Shape, nested
from docs.schema_words import flat, takes
from showcaller.actors.contract.actions import ACTIONS, Action, When
from showcaller.actors.contract.calls.base import CallResult
from showcaller.actors.contract.errors import HTTP_STATUS, Code
from showcaller.actors.contract.limits import CALLS_PER_MINUTE, PROMPTS_UNASKED, WRITES_PER_MINUTE

HEAD = f"""\
# Reference: the tool

Written from the action table and the models of calls and results by `python -m docs.generate`; change it in
`actors/contract/`.

There is one tool, `relay_tool`, with one argument that is always needed, `action`. The same call works
through MCP, `POST /api/call`, `showcaller call` and `Relay.call`. Empty values count as absent; a number
outside its range is taken as the nearest in it, and text that is too long is refused. In one minute a
conversation may make {CALLS_PER_MINUTE} calls, {WRITES_PER_MINUTE} of them writes, and its agent may send
{PROMPTS_UNASKED} prompts to others without a word from a person in between. None of that bounds the owner.

- **level**: the least that a pairing must allow for it on another relay; on this relay all are allowed.
- **write**: changes something; in the modes `ask` and `plan` a person is asked first.
- **prompt**: counts among the prompts of an agent.

An action that is marked *not there yet* is refused with `{Code.UNSUPPORTED.value}`.

| action | level | write | prompt | |
| --- | --- | --- | --- | --- |
"""
COMMON = """\
## What every answer has

A success has what stands here and what its action adds. A refusal has `ok: false`, a `code`, an `error` that
says what to do, and fields that help. To an external conversation any answer may bring `messages` that waited
for it. A field that may be left out is so when there is nothing to say.

"""
_WHEN: Mapping[When, str] = {"never": "", "always": "yes", "with session": "with `session`"}
_COMMON = frozenset(CallResult.model_fields)


def tool_reference() -> str:
    """Give the whole text."""
    results: list[type[CallResult]] = [CallResult]
    results += [row.result for row in ACTIONS.values() if row.result not in results]
    shapes = [Shape(model) for model in dict.fromkeys(results)]
    parts = [HEAD + "".join(f"{_table_row(row)}\n" for row in ACTIONS.values())]
    parts.append(COMMON + _fields(Shape(CallResult), frozenset()))
    parts += [_action(row) for row in ACTIONS.values()]
    parts.append("## Shapes\n\nWhat stands in answers under a name of its own.\n")
    parts += [_shape(shape) for shape in nested(shapes)]
    parts.append(_codes())
    return "\n".join(parts)


def _table_row(row: Action) -> str:
    level = (
        row.level
        if row.level_with_session is None
        else f"{row.level}; {row.level_with_session} with `session`"
    )
    write = "a card of its own" if row.own_card else _WHEN[row.write]
    there = "" if row.available else "not there yet"
    return f"| [`{row.name}`](#{row.name}) | {level} | {write} | {_WHEN[row.prompt]} | {there} |"


def _action(row: Action) -> str:
    result = Shape(row.result)
    call = row.model.model_json_schema()
    lines = [
        f"## {row.name}\n",
        flat(call["description"]) + ("" if row.available else " *Not there yet.*") + "\n",
    ]
    if row.model.one_of:
        lines.append(f"At least one is needed of {', '.join(f'`{name}`' for name in row.model.one_of)}.\n")
    if row.model.refuses_foreign:
        lines.append("An argument that it does not take is refused, and not only told in `ignored`.\n")
    arguments = list(_arguments(row, call))
    lines += (
        ["| argument | takes | default | |", "| --- | --- | --- | --- |", *arguments, ""] if arguments else []
    )
    fields = _fields(result, _COMMON)
    if fields:
        lines.append(f"{result.said}\n")
        lines.append(fields)
    return "\n".join(lines)


def _arguments(row: Action, call: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in call["properties"].items():
        if name == "action":
            continue
        default = schema.get("default")
        word = "" if default is None else f"`{str(default).lower()}`"
        if name in call.get("required", ()):
            word = "required"
        elif name in row.model.not_external:
            word = "required, but of an external conversation"
        said = flat(schema.get("description", ""))
        yield f"| `{name}` | {takes(schema, call.get('$defs', {}))} | {word} | {said} |"


def _fields(shape: Shape, leave_out: frozenset[str]) -> str:
    rows = [
        f"| `{name}` | {takes(field)}{' or null' if shape.says_null(name) else ''} | "
        f"{'may be left out' if shape.may_leave_out(name) else ''} |"
        for name, field in shape.fields.items()
        if name not in leave_out
    ]
    return "\n".join(["| field | is | |", "| --- | --- | --- |", *rows, ""]) if rows else ""


def _shape(shape: Shape) -> str:
    return f"### {shape.name}\n\n{shape.said}\n\n{_fields(shape, frozenset())}"


def _codes() -> str:
    rows = [f"| `{code.value}` | {HTTP_STATUS[code] or 'none: a door gives it'} |" for code in Code]
    return "\n".join(["## Codes of refusals\n", "| code | HTTP |", "| --- | --- |", *rows, ""])
