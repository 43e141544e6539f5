"""What is told of a body that is refused."""

import pytest

from showcaller.actors.contract.errors import Refusal
from showcaller.actors.contract.tokens import NewToken
from showcaller.transport.doors.http.bodies import checked_body


@pytest.mark.parametrize("name", [".x", " x", "x" * 60 + "ä" * 4 + "日" * 60, "a/b", "\x1b[31m"])
def test_a_refused_name_is_told_in_one_sentence(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked_body({"kind": "external", "name": name}, NewToken)
    assert refused.value.error.endswith(".")
    assert not refused.value.error.endswith("..")
    assert "\x1b" not in refused.value.error
