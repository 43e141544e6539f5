"""What is the owner's alone in a call is taken out of it, and checked."""

from typing import Any

import pytest

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.owner_arguments import OwnersCall, owners_call
from showcaller.actors.contract.shape import shape_call


def test_the_conversation_to_continue_is_taken_out_of_a_new_session() -> None:
    call = {"action": "create_session", "relay": "this", "text": "go on", "resume": " 8f14-e45f "}
    rest = {"action": "create_session", "relay": "this", "text": "go on"}
    assert owners_call(call) == OwnersCall(rest, "8f14-e45f")
    assert owners_call(rest) == OwnersCall(rest)


@pytest.mark.parametrize("call", [None, 7, "text", {"action": "send", "resume": "x"}])
def test_any_other_call_stays_as_it_is(call: Any) -> None:
    assert owners_call(call) == OwnersCall(call)


@pytest.mark.parametrize("resume", ["", " ", 7, ["a"], "two\nlines", "x" * 201])
def test_what_names_no_conversation_is_refused(resume: Any) -> None:
    with pytest.raises(Refusal, match="one line of 1 to 200 characters"):
        owners_call({"action": "create_session", "resume": resume})


def test_an_agent_cannot_name_one() -> None:
    with pytest.raises(Refusal, match="create_session does not take: resume"):
        shape_call({"action": "create_session", "relay": "this", "text": "hi", "resume": "8f14"})
