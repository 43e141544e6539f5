"""An agent that cannot be started says why, and what to do."""

import sys

from tests.transport.worker.acp.conftest import OpenDesk
from tests.transport.worker.acp.desk import AgentDesk


async def test_a_missing_program_is_named_with_how_to_get_it(desk: AgentDesk) -> None:
    end = await desk.run("hi", command=("no-such-agent",), install="npm install -g no-such-agent")
    assert (end.outcome, end.stop_reason) == ("failed", "end")
    assert end.error_text == (
        "Fake agent is not installed: there is no program 'no-such-agent'. npm install -g no-such-agent"
    )


async def test_a_missing_folder_is_named(desk: AgentDesk) -> None:
    end = await desk.run("hi", turn_more={"cwd": str(desk.folder / "gone")})
    assert (
        end.error_text
        == f"Fake agent cannot run in the folder {desk.folder / 'gone'}: No such file or directory"
    )


async def test_a_handshake_has_a_limit(open_desk: OpenDesk) -> None:
    desk = open_desk(handshake=4.0)
    end = await desk.run("hi", "slow-start", "chatty")
    assert end.outcome == "failed"
    assert "had not opened a conversation within 4 s, and was ended" in str(end.error_text)
    assert "it wrote last: Fake agent 1.5 is starting..." in str(end.error_text)
    assert desk.provider.processes == []


async def test_a_sign_in_that_is_wanted_is_told_with_the_ways(desk: AgentDesk) -> None:
    for _ in range(6):  # whoever signs in may try again at once
        end = await desk.run("hi", "auth")
        assert (end.outcome, end.error_class) == ("failed", "auth")
        assert "wants a sign-in: Authentication required" in str(end.error_text)
        assert "It offers: Log in (Run: fake login)." in str(end.error_text)


async def test_a_program_that_is_no_agent_is_told_with_what_it_says(desk: AgentDesk) -> None:
    end = await desk.run("hi", command=(sys.executable, "-c", "print('usage: something else')"))
    assert (end.outcome, end.stop_reason) == ("failed", "died")
    words = "exited with code 0 before the turn had ended; it wrote last: usage: something else"
    assert words in str(end.error_text)


async def test_a_start_is_stopped_at_once(desk: AgentDesk) -> None:
    turn = desk.start("hi", "slow-start")
    await desk.state("starting")
    desk.stage.stop(turn)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"
    await desk.state("none")
