"""What the rows about many sessions measure is a store as a relay would have written it."""

import pytest

from bench.rows.many_sessions import many
from showcaller import Relay


@pytest.mark.slow
def test_the_many_sessions_are_whole_half_of_them_archived_and_each_with_its_turn() -> None:
    with many(30) as (home, first), Relay.open(home, writer_process=False) as relay:
        assert relay.check() == []
        listed = relay.call({"action": "list_sessions", "scope": "all", "limit": 50})["sessions"]
        assert len(listed) == 30
        assert listed[0]["id"] == first
        recent = relay.call({"action": "list_sessions", "scope": "recent", "limit": 50})["sessions"]
        assert len(recent) == 15
        shown = relay.call({"action": "read_session", "session": listed[-1]["id"]})
        assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
