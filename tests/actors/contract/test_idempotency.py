from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.idempotency import (
    check_repeat,
    client_id_of,
    fingerprint,
    is_kept,
    request_client_id,
)
from showcaller.actors.contract.shape import shape_call
from tests.actors.contract.examples import SESSION, SMALLEST, smallest

DAY = 86_400_000


def print_of(action: str, **more: Any) -> str:
    return fingerprint(shape_call(smallest(action, **more)).call)


def test_the_same_call_written_in_another_way_is_the_same_body() -> None:
    sent = print_of("send", if_busy="fail", mode="plan", model="")
    assert sent == print_of("send", mode=" PLAN", if_busy="FAIL", title="ignored", effort=None)
    assert print_of("send") == print_of("send", if_busy="queue", session="3f9c2a1e7b0d")
    assert print_of("subscribe") == print_of("subscribe", stalled_minutes="15", once=False, relay="this")


def test_how_long_a_caller_waits_is_no_part_of_the_body() -> None:
    assert print_of("send", wait_seconds=0) == print_of("send", wait_seconds=60)


def test_every_other_argument_is() -> None:
    bodies = [
        print_of("send"),
        print_of("send", text="Hello "),
        print_of("send", session="ses_000000000000"),
        print_of("send", relay="desk"),
        print_of("send", mode="plan"),
        print_of("create_session"),
        print_of("update_session", title="x", thinking_enabled=False),
        print_of("update_session", title="x", thinking_enabled=True),
        print_of("update_session", title="x"),
        print_of("stop"),
        print_of("archive"),
    ]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("action", SMALLEST)
def test_every_action_has_a_fingerprint_of_its_own(action: str) -> None:
    assert len(print_of(action)) == 64
    assert sum(print_of(action) == print_of(other) for other in SMALLEST) == 1


def test_the_same_id_with_another_body_is_refused() -> None:
    first = shape_call(smallest("send")).call
    check_repeat("one", fingerprint(first), shape_call(smallest("send", wait_seconds=5)).call)
    with pytest.raises(
        Refusal, match=r'The id "one" was used for another call.* Nothing was sent\.'
    ) as caught:
        check_repeat("one", fingerprint(first), shape_call(smallest("send", text="Bye")).call)
    assert caught.value.code is Code.INVALID_INPUT


def test_an_id_is_kept_for_seven_days() -> None:
    assert is_kept(0, 7 * DAY - 1)
    assert not is_kept(0, 7 * DAY)


@pytest.mark.parametrize("text", ["a", "7f0c-1", "run 7 of nightly", "~" * 255])
def test_an_id_is_taken_as_it_is(text: str) -> None:
    assert client_id_of(text) == text


@pytest.mark.parametrize("text", ["", " ", " a", "a ", "a  b", "a\nb", "ä", "\x7f", "a\0", "~" * 256])
def test_an_id_that_could_be_mistaken_for_another_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="visible ASCII"):
        client_id_of(text)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.mark.parametrize("value", [5, b"a", None, True, nested(60), nested(100_000)[:1]])
def test_an_id_that_is_no_text_is_refused_without_looking_into_it(value: object) -> None:
    with pytest.raises(Refusal, match=f"of type {type(value).__name__} came"):
        client_id_of(value)


@given(
    st.tuples(st.sampled_from(["c1", "c2"]), st.integers() | st.text()),
    st.tuples(st.sampled_from(["c1", "c2"]), st.integers() | st.text()),
)
def test_requests_have_one_id_only_if_they_are_one(
    one: tuple[str, int | str], other: tuple[str, int | str]
) -> None:
    same = one == other and type(one[1]) is type(other[1])
    assert (request_client_id(*one) == request_client_id(*other)) == same
    assert client_id_of(request_client_id(*one))


def test_a_session_of_another_name_is_another_body() -> None:
    assert print_of("send", session=SESSION) != print_of("send", session=SESSION[:10])
