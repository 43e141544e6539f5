"""What agents read of the tool says what holds."""

from showcaller.actors.contract.actions import ACTIONS, available_actions
from showcaller.actors.contract.limits import CALLS_PER_MINUTE, WRITES_PER_MINUTE
from showcaller.transport.doors.mcp.guidance import description
from tests.transport.doors.mcp.served import served

LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_a_client_reads_which_actions_are_not_there_yet() -> None:
    async with served() as client:
        (tool,) = (await client.post(LIST_TOOLS)).json()["result"]["tools"]
    (line,) = [line for line in tool["description"].splitlines() if line.startswith("Not in this version")]
    unbuilt = [row.name for row in ACTIONS.values() if not row.available]
    assert unbuilt
    assert line == f"Not in this version yet: {', '.join(unbuilt)}."
    assert tool["description"] == description()


def test_nothing_is_said_of_missing_actions_when_all_are_there() -> None:
    assert "Not in this version" not in description(available_actions())


def test_it_tells_how_many_calls_and_writes_may_be_made() -> None:
    assert f"{CALLS_PER_MINUTE} calls a minute" in description()
    assert f"{WRITES_PER_MINUTE} of them writes" in description()
    assert "refused ones count" in description()
