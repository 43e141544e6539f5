"""What is wrong with a value is told in the contract's own words."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from showcaller.actors.contract.problems import named_problem


class Everything(BaseModel):
    """A field of each kind that a model of the contract has."""

    model_config = ConfigDict(extra="forbid", strict=True)

    count: int = Field(default=1, ge=1, le=10_000)
    share: float = Field(default=0.5, gt=0, lt=1, allow_inf_nan=False)
    name: str = Field(default="x", min_length=1, max_length=3, pattern="^x")
    pair: Annotated[str, Field(min_length=2)] = "xx"
    listed: list[int] = Field(default_factory=list, max_length=2)
    kind: Literal["one", "two"] = "one"
    needed: bool


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"count": 10_001}, "count must be at most 10,000"),
        ({"count": 0}, "count must be at least 1"),
        ({"count": "3"}, "count must be a whole number"),
        ({"share": 0.0}, "share must be more than 0"),
        ({"share": 1.0}, "share must be less than 1"),
        ({"share": float("nan")}, "share must be a finite number"),
        ({"share": "1"}, "share must be a number"),
        ({"name": ""}, "name is empty"),
        ({"name": "xxxx"}, "name has more than 3 characters"),
        ({"name": "y"}, "name must match ^x"),
        ({"name": 3}, "name must be text"),
        ({"pair": "x"}, "pair has less than 2 characters"),
        ({"listed": [1, 2, 3]}, "listed has more than 2 entries"),
        ({"listed": {}}, "listed must be a list"),
        ({"listed": ["x"]}, "listed.0 must be a whole number"),
        ({"kind": "three"}, "kind must be 'one' or 'two'"),
        ({"needed": "yes"}, "needed must be true or false"),
        ({"more": 1}, "more is not known here"),
        ({"needed": ...}, "needed is missing"),
    ],
)
def test_a_wrong_value_is_told(given: dict[str, Any], told: str) -> None:
    values = {name: value for name, value in ({"needed": True} | given).items() if value is not ...}
    with pytest.raises(ValidationError) as refused:
        Everything.model_validate(values)
    (detail,) = refused.value.errors()
    assert named_problem(detail) == told
