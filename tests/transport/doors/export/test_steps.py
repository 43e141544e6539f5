"""What an agent did beside its text is folded into the parts of an export, harmless whatever it says."""

from collections.abc import Callable

import pytest

from showcaller.transport.doors.export.form import Form
from showcaller.transport.doors.export.html_page import HtmlPage
from showcaller.transport.doors.export.markdown import Markdown

HEAD = {"at": "2026-11-30T10:00:00.000Z", "text": "the text"}
STEPS = ["tool: Run <b>`make`</b>", "thought: ```\x1b[2J\nand more"]


@pytest.mark.parametrize("form", [HtmlPage, Markdown])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_steps_are_folded_before_a_reply_and_behind_a_prompt(form: Callable[[], Form], role: str) -> None:
    shown = form().message({**HEAD, "role": role, "activity": STEPS})
    assert "<details><summary>What it did: 2 steps</summary>" in shown
    assert "\x1b" not in shown
    assert (shown.index("What it did") < shown.index("the text")) == (role == "assistant")
    assert "<details>" not in form().message({**HEAD, "role": role})
    assert "1 step<" in form().message({**HEAD, "role": role, "activity": STEPS[:1]})


def test_nothing_in_a_step_ends_its_block() -> None:
    page = HtmlPage().message({**HEAD, "role": "assistant", "activity": STEPS})
    assert "<b>" not in page
    text = Markdown().message({**HEAD, "role": "assistant", "activity": STEPS})
    assert "````text\ntool: Run <b>`make`</b>\nthought: ```" in text
