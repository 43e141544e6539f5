"""Whatever arrives gives a typed call or a refusal, in bounded time and of bounded size.

A million: ``FUZZ_CALLS=1000000 FUZZ_SEED=7 python -m pytest --timeout 0 -k recombined`` and this file.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.contract.calls import CallModel, Schedule
from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.idempotency import fingerprint
from showcaller.actors.contract.schedule_start import first_fire
from showcaller.actors.contract.shape import parse_call, shape_call
from tests.actors.contract.recombined import recombined
from tests.actors.contract.strategies import VALUES, calls, nearly_valid_calls, valid_calls, wild_calls

T = TypeVar("T")

NOW = 1_796_000_000_000  # in November 2026


def again(call: CallModel) -> dict[str, Any]:
    """Give a call as a caller would write it who names every argument."""
    return call.model_dump(mode="json", by_alias=True)


def test_the_strategies_know_every_argument() -> None:
    assert set(VALUES) == {name for row in ACTIONS.values() for name in row.arguments}


@pytest.mark.parametrize("action", ACTIONS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_valid_call_is_taken_and_means_the_same_when_written_out(action: str, data: st.DataObject) -> None:
    given = data.draw(valid_calls(st.just(action)))
    shaped = shape_call(given)
    assert shaped.action.name == action
    assert shaped.ignored == ()
    written = shape_call(json.dumps(again(shaped.call)), longest_wait_seconds=3600)
    assert written.call == shaped.call
    assert written.notes == ()
    assert fingerprint(written.call) == fingerprint(shaped.call)


def outcome(ask: Callable[[], T]) -> T | Refusal:
    """Give what came of it; anything but a value or a refusal is a failure of the test."""
    try:
        return ask()
    except Refusal as refusal:
        return refusal


@given(calls(), st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_call_is_taken_or_refused_with_a_short_answer(given: object, external: bool) -> None:
    came = outcome(lambda: shape_call(given, external=external))
    if isinstance(came, Refusal):
        assert came.code is Code.INVALID_INPUT
        assert len(json.dumps(came.to_result(), allow_nan=False)) < 6000
    else:
        assert shape_call(again(came.call), external=external).call == came.call


@given(valid_calls(st.just("schedule")) | nearly_valid_calls())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_schedule_fires_in_the_future_or_is_refused(given: object) -> None:
    came = outcome(lambda: shape_call(given))
    if isinstance(came, Refusal) or not isinstance(came.call, Schedule):
        return
    call = came.call
    fires = outcome(lambda: first_fire(call, NOW))
    if isinstance(fires, Refusal):
        assert fires.code is Code.INVALID_INPUT
    else:
        assert fires >= NOW


@given(nearly_valid_calls() | wild_calls())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_what_is_not_carried_out_is_refused_whatever_its_shape(given: object) -> None:
    shaped, parsed = outcome(lambda: shape_call(given)), outcome(lambda: parse_call(given))
    if isinstance(shaped, Refusal):
        assert isinstance(parsed, Refusal)
        assert parsed.code is Code.UNSUPPORTED or parsed.to_result() == shaped.to_result()
    elif isinstance(parsed, Refusal):
        assert not shaped.action.available
        assert parsed.code is Code.UNSUPPORTED
    else:
        assert parsed.call == shaped.call


def test_recombined_calls_are_taken_or_refused() -> None:
    count, number = (int(os.environ.get(name, "1000")) for name in ("FUZZ_CALLS", "FUZZ_SEED"))
    came: Counter[str] = Counter()
    for call in recombined(number, count):
        shaped = outcome(partial(shape_call, call))
        if isinstance(shaped, Refusal):
            assert shaped.code is Code.INVALID_INPUT, call
            came["refused"] += 1
        else:
            assert shape_call(again(shaped.call)).call == shaped.call, call
            came[shaped.action.name] += 1
    assert came.total() == count
    assert len(came) > len(ACTIONS) // 2
