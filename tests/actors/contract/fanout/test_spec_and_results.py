import json
from typing import Any

import pytest
from pydantic import ValidationError

from showcaller.actors.contract.fanout import FanoutSpec, ItemResult, Summary
from showcaller.actors.contract.fanout.results import KEPT
from showcaller.transport.worker.output import CommandOutput
from showcaller.transport.worker.text import bounded, gap_line

GAP = gap_line(1_234, "bytes").encode()


def spec(**changes: Any) -> FanoutSpec:
    fields = {"kind": "command", "template": "wc -l {}", "provider": "command", "jobs": 16, "cwd": "/tmp"}
    return FanoutSpec.model_validate(fields | changes)


def test_a_specification_survives_being_stored_as_json() -> None:
    asked = spec(timeout=1.5, retries=2, name="count", rerun=False)
    assert FanoutSpec.model_validate_json(asked.model_dump_json()) == asked
    assert asked.parsed().kind == "command"


@pytest.mark.parametrize(
    "changes",
    [
        {"jobs": 0},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"timeout": float("nan")},
        {"retries": -1},
        {"cwd": "here"},
        {"template": "wc -l"},
        {"template": "wc -l '{}'"},
        {"kind": "other"},
        {"name": ""},
        {"surprise": 1},
        {"jobs": 10_001},
        {"retries": 1001},
    ],
)
def test_a_specification_outside_its_ranges_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        spec(**changes)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("cwd", "/caf\udce9", r'The folder "/caf\udce9" is not valid UTF-8'),
        ("cwd", "/a\0b", r'The folder "/a\u0000b" holds a NUL'),
        ("name", "a\0b", r'The name "a\u0000b" holds a NUL'),
        ("template", "wc \udce9 {}", r'The template "wc \udce9 {}" is not valid UTF-8'),
        ("template", "wc '{}'", "stands inside single quotes"),
    ],
)
def test_a_specification_that_no_command_can_carry_is_refused_with_the_reason(
    field: str, value: str, reason: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        spec(**{field: value})
    assert reason in str(refused.value)


def test_a_result_is_one_line_of_json_with_the_seven_fields() -> None:
    result = ItemResult(
        item="a\nb", session="ses_abc", status="done", exit_code=0, reply="é\n", seconds=0.5, attempts=1
    )
    assert "\n" not in result.to_json()
    assert json.loads(result.to_json()) == {
        "item": "a\nb",
        "session": "ses_abc",
        "status": "done",
        "exitCode": 0,
        "reply": "é\n",
        "seconds": 0.5,
        "attempts": 1,
    }


@pytest.mark.parametrize("status", ["failed", "stopped", "interrupted"])
def test_what_did_not_end_as_done_says_why_where_there_is_a_reason(status: Any) -> None:
    result = ItemResult(item="a", number=7, status=status, error="exited with code 3")
    assert json.loads(result.to_json())["error"] == "exited with code 3"
    for change in ({"error": None}, {"status": "done"}):
        silent = json.loads(result.model_copy(update=change).to_json())
        assert silent.keys() == json.loads(ItemResult(item=1, status="done").to_json()).keys()


def test_the_place_of_an_item_is_no_part_of_its_line() -> None:
    assert "number" not in json.loads(ItemResult(item="a", number=7, status="done").to_json())


@pytest.mark.parametrize("character", [b"a", "ß".encode(), "𝄞".encode()])
def test_a_reply_whose_middle_was_left_out_says_so(character: bytes) -> None:
    for length, cut in ((KEPT - 40, False), (KEPT, False), (KEPT + 4, True), (3 * KEPT, True)):
        output = CommandOutput(lambda text: None)
        output.add((GAP + character * length)[:length])
        reply, truncated = output.reply()
        line = json.loads(ItemResult(item=1, status="done", reply=reply).to_json())
        assert (truncated, line.get("truncated", False)) == (cut, cut)


def test_a_value_whose_middle_was_left_out_says_so() -> None:
    for length, cut in ((KEPT, False), (KEPT + 1, True)):
        reply, truncated = bounded("é" * length)
        assert truncated is cut
        assert ItemResult(item=1, status="done", reply=reply).truncated is cut


def test_the_summary_counts_every_end_and_says_whether_all_succeeded() -> None:
    summary = Summary.of(["done", "failed", "done", "skipped", "interrupted", "stopped"], 2.5)
    counts = {"done": 2, "failed": 1, "stopped": 1, "interrupted": 1, "skipped": 1, "seconds": 2.5}
    assert json.loads(summary.to_json()) == {"summary": counts}
    assert not summary.all_succeeded
    assert Summary.of(["done"], 1.0).all_succeeded
    assert not any(
        Summary.of([end], 1.0).all_succeeded for end in ("failed", "stopped", "interrupted", "skipped")
    )
