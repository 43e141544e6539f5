"""The worker protocol at the border: every message survives the trip, every foreign body is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.agent_messages import (
    AgentSpec,
    AgentState,
    AnswerCard,
    CardAsked,
    CardOption,
    CardWithdrawn,
    CloneSource,
    McpServer,
)
from showcaller.actors.contract.worker import (
    FixedCommand,
    FromWorkerMessage,
    RunTurn,
    StopTurn,
    TaskStarted,
    ToWorkerMessage,
    TurnEnded,
    TurnOutput,
    TurnTaken,
)
from showcaller.transport.wire.frames import Frame, WireError, decode, encode
from showcaller.transport.wire.protocol import PROTOCOL
from showcaller.transport.wire.worker_messages import (
    MessageRefusedError,
    UnknownKindError,
    from_worker_message,
    to_frame,
    to_worker_message,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
SPEC = AgentSpec(name="claude", label="Claude Code", command=("claude-agent-acp", "--acp"))
texts = st.lists(st.text(max_size=5), max_size=3).map(tuple)
variables = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
servers = st.builds(
    McpServer,
    name=st.text(),
    url=st.none() | st.text(),
    headers=variables,
    command=texts,
    has_token=st.booleans(),
)
agents = st.builds(
    AgentSpec,
    name=st.text(),
    label=st.text(),
    command=texts,
    environment=variables,
    servers=st.lists(servers, max_size=2).map(tuple),
    folders=texts,
    resume=st.none() | st.text(),
)
to_worker: st.SearchStrategy[ToWorkerMessage] = st.builds(
    RunTurn,
    session=st.text(max_size=20),
    turn=st.text(),
    provider=st.text(),
    text=st.text(),
    item=json_values,
    cwd=st.none() | st.text(),
    environment=st.dictionaries(st.text(), st.text(), max_size=3),
    timeout=st.none() | st.floats(0, 1e9, exclude_min=True),
    background=st.booleans(),
    agent=st.none() | agents,
) | st.builds(StopTurn, session=st.text(max_size=20), turn=st.text())
to_worker = to_worker | st.builds(
    AnswerCard,
    session=st.text(max_size=20),
    turn=st.text(),
    card=st.text(),
    outcome=st.sampled_from(["answered", "dismissed", "timed_out", "withdrawn"]),
    choices=texts,
    values=st.none() | st.dictionaries(st.text(), json_values, max_size=3),
)
from_worker = (
    st.builds(TurnTaken, session=st.text(max_size=20), turn=st.text())
    | st.builds(
        TaskStarted,
        session=st.text(max_size=20),
        task=st.text(),
        type=st.sampled_from(["agent", "command", "monitor"]),
        description=st.text(),
        turn=st.none() | st.text(),
    )
    | st.builds(TurnOutput, session=st.text(max_size=20), turn=st.text(), text=st.text())
    | st.builds(
        TurnEnded,
        session=st.text(max_size=20),
        turn=st.text(),
        outcome=st.sampled_from(["done", "failed", "stopped"]),
        reply=st.text(),
        truncated=st.booleans(),
        error_text=st.none() | st.text(),
        exit_code=st.none() | st.integers(-255, 255),
        seconds=st.floats(0, 1e9),
        agent_session=st.none() | st.text(),
        resumed_via=st.none() | st.sampled_from(["alive", "resume", "load", "new"]),
    )
    | st.builds(
        CardAsked,
        session=st.text(max_size=20),
        turn=st.text(),
        card=st.text(),
        card_kind=st.sampled_from(["permission", "ask_user"]),
        question=st.text(),
        options=st.lists(st.builds(CardOption, id=st.text(), label=st.text()), max_size=3).map(tuple),
        form=st.none() | st.dictionaries(st.text(), json_values, max_size=3),
    )
    | st.builds(CardWithdrawn, session=st.text(max_size=20), turn=st.text(), card=st.text())
    | st.builds(AgentState, session=st.text(max_size=20), state=st.just("alive"), models=texts, modes=texts)
)


@given(to_worker)
def test_what_a_relay_sends_is_what_its_worker_gets(message: ToWorkerMessage) -> None:
    assert to_worker_message(decode(encode(to_frame(message, 1)))) == message


def test_a_worker_of_the_version_before_is_sent_nothing_that_it_would_refuse() -> None:
    fixed = FixedCommand(arguments=("wc", "-l"), environment={"LC_ALL": "C"})
    run = RunTurn(session="ses_a", turn="t", provider="lines", text="hi", command=fixed)
    before = to_frame(run, 1, PROTOCOL - 1)
    assert "command" not in before.body
    assert to_worker_message(before) == run.model_copy(update={"command": None})
    assert to_worker_message(decode(encode(to_frame(run, 1)))) == run
    plain = RunTurn(session="ses_a", turn="t", provider="command", text="make")
    assert to_worker_message(to_frame(plain, 1, PROTOCOL - 1)) == plain


def test_a_relay_of_the_version_before_is_told_all() -> None:
    end = TurnEnded(session="ses_a", turn="t", outcome="done", activity=("tool: make",))
    assert from_worker_message(to_frame(end, 1, PROTOCOL - 1)) == end
    assert from_worker_message(decode(encode(to_frame(end, 1)))) == end


def test_an_agent_crosses_a_link_with_its_clone() -> None:
    on_clone = SPEC.model_copy(update={"clone": CloneSource(url="https://git.test/x", hosts=("git.test",))})
    run = RunTurn(session="ses_a", turn="t", provider="claude", text="hi", agent=on_clone)
    assert to_worker_message(decode(encode(to_frame(run, 1)))) == run
    assert to_frame(run, 1).body["agent"]["command"] == ("claude-agent-acp", "--acp")


def test_for_which_worker_a_turn_is_stored_is_told_to_none() -> None:
    run = RunTurn(session="ses_a", turn="t", provider="command", text="make", worker="wrk_a")
    frame = to_frame(run, 1)
    assert to_worker_message(frame) == run.model_copy(update={"worker": None})
    frame.body["worker"] = "wrk_a"
    with pytest.raises(WireError):
        to_worker_message(frame)


@given(from_worker)
def test_what_a_worker_sends_is_what_its_relay_gets(message: FromWorkerMessage) -> None:
    assert from_worker_message(decode(encode(to_frame(message, 1)))) == message


@given(st.sampled_from(["run_turn", "stop_turn", "turn_taken", "turn_ended", "x"]), json_values)
def test_a_body_without_the_fields_of_its_kind_is_a_wire_error(kind: str, body: Any) -> None:
    frame = Frame(kind, 1, "ses_a", body)
    for read in (to_worker_message, from_worker_message):
        with pytest.raises(WireError):
            read(frame)


def test_an_unknown_kind_is_named_with_its_number() -> None:
    with pytest.raises(UnknownKindError, match="frame 9 has the unknown kind 'dance'"):
        to_worker_message(Frame("dance", 9, "", {}))


def test_a_message_of_the_other_direction_is_an_unknown_kind() -> None:
    with pytest.raises(UnknownKindError):
        from_worker_message(to_frame(StopTurn(session="s", turn="t"), 1))


def test_the_first_wrong_field_is_named() -> None:
    body = {"turn": "t", "provider": "command", "text": 5}
    with pytest.raises(MessageRefusedError, match=r"frame 3 \(run_turn\): run_turn.text"):
        to_worker_message(Frame("run_turn", 3, "s", body))


@pytest.mark.parametrize("extra", [{"colour": "red"}, {"session": "ses_other"}, {"kind": "stop_turn"}])
def test_foreign_fields_are_refused_and_the_envelope_cannot_be_overruled(extra: dict[str, str]) -> None:
    with pytest.raises(MessageRefusedError):
        to_worker_message(Frame("stop_turn", 1, "s", {"turn": "t", **extra}))
