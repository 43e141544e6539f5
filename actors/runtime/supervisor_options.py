"""What a supervisor is made with, checked when it is made."""

from collections.abc import Iterable
from typing import get_args

from showcaller.actors.runtime.child_spec import ChildSpec
from showcaller.actors.runtime.choices import refuse_unknown
from showcaller.actors.runtime.restart_intensity import RestartIntensity
from showcaller.actors.runtime.strategy import Strategy


def refuse_nonsense(name: str, specs: Iterable[object], strategy: object, intensity: object) -> None:
    """Raise what is wrong now, and not at the first failure of a child."""
    refuse_unknown(f"strategy of {name}", strategy, get_args(Strategy))
    if not isinstance(intensity, RestartIntensity):
        raise TypeError(f"intensity of {name} cannot be {intensity!r}: give a RestartIntensity(…)")
    for spec in specs:
        if not isinstance(spec, ChildSpec):
            raise TypeError(f"a child of {name} cannot be {spec!r}: give a ChildSpec(name, class, …)")
