"""Calls by the million: drawn once in their variety, then recombined from a seed, a few microseconds each."""

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.actors.contract.strategies import calls


def drawn(number: int, size: int) -> list[Any]:
    """Draw a pool of calls; the same number gives the same pool."""
    pool: list[Any] = []

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(calls())
    def collect(call: object) -> None:
        pool.append(call)

    collect()
    return pool


def recombined(number: int, count: int) -> Iterator[Any]:
    """Give so many calls: those of a pool with up to five of their arguments left out or taken from others.

    A failing one is found again with the same number. The calls share their values: do not change them.
    """
    pool = drawn(number, min(max(count // 4, 200), 5000))
    objects: list[dict[str, Any]] = [call for call in pool if isinstance(call, dict) and call]
    chance = random.Random(number)
    for _ in range(count):
        call = chance.choice(pool)
        if not isinstance(call, dict):
            yield call
            continue
        made: dict[str, Any] = {**call}
        for _ in range(chance.randrange(6)):
            name = chance.choice(list(chance.choice(objects)))
            donor = chance.choice(objects)
            if name in donor:
                made[name] = donor[name]
            elif chance.random() < 0.3:
                made.pop(name, None)
        yield made
