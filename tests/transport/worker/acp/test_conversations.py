"""An agent's conversation goes on after its process has ended, and is never another or a blank one."""

import json
import os
import signal

import pytest

from tests.transport.worker.acp.conftest import OpenDesk
from tests.transport.worker.acp.desk import AgentDesk


def recalled(reply: str) -> list[str]:
    found: list[str] = json.loads(reply.split(" ", 2)[2])
    return found


@pytest.mark.parametrize(("options", "via"), [((), "resume"), (("no-resume",), "load")])
async def test_after_its_death_it_goes_on_by_the_best_way_there_is(
    desk: AgentDesk, options: tuple[str, ...], via: str
) -> None:
    first = await desk.run("say one", *options)
    (process,) = desk.provider.processes
    os.kill(process, signal.SIGKILL)
    assert (await desk.state("none")).why == "died"
    again = await desk.run("recall", *options)
    assert (again.resumed_via, again.agent_session) == (via, first.agent_session)
    assert recalled(again.reply) == ["say one"]


async def test_what_is_told_again_while_loading_is_no_reply(desk: AgentDesk) -> None:
    await desk.run("say one", "no-resume")
    desk.kill()
    await desk.state("none")
    turn = desk.start("say two", "no-resume")
    assert (await desk.stage.end_of(turn)).reply == "two"
    assert desk.stage.output_of(turn) == "two"


async def test_a_crash_in_a_turn_does_not_end_the_conversation(desk: AgentDesk) -> None:
    await desk.run("say one")
    assert (await desk.run("crash 1")).stop_reason == "died"
    again = await desk.run("recall")
    assert (again.resumed_via, recalled(again.reply)) == ("resume", ["say one", "crash 1"])


async def test_another_worker_continues_the_conversation_it_is_told_of(open_desk: OpenDesk) -> None:
    desk = open_desk()
    first = await desk.run("say one")
    other = open_desk()
    other.memory.rmdir()
    other.memory.symlink_to(desk.memory)
    again = await other.run("recall", resume=first.agent_session, resume_required=True)
    assert (again.resumed_via, again.agent_session) == ("resume", first.agent_session)
    assert recalled(again.reply) == ["say one"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("no-resume", "no-load"), "it has no way to do so after its process has ended"),
        (("no-resume", "blank"), "holds no message"),
        (("no-resume",), "no such session: fake-gone"),
        ((), "no such session: fake-gone"),
        (("no-load",), "it is not among the conversations that the agent lists"),
    ],
)
async def test_one_that_cannot_be_continued_is_an_error_and_never_begun_anew(
    desk: AgentDesk, options: tuple[str, ...], words: str
) -> None:
    name = "fake-gone"
    if "blank" in options:
        (desk.memory / f"{name}.jsonl").write_text(json.dumps({"cwd": "/"}) + "\n")
    end = await desk.run("say hi", *options, resume=name, resume_required=True)
    assert (end.outcome, end.reply) == ("failed", "")
    assert f"Fake agent cannot continue its conversation {name}: " in str(end.error_text)
    assert words in str(end.error_text)
    assert "start a new session" in str(end.error_text)
    assert len(list(desk.memory.iterdir())) == ("blank" in options)


async def test_what_was_told_here_is_required_even_if_the_relay_does_not_know_it(desk: AgentDesk) -> None:
    await desk.run("say one", "no-resume", "no-load")
    desk.kill()
    await desk.state("none")
    end = await desk.run("say two", "no-resume", "no-load")
    assert end.outcome == "failed"
    assert "cannot continue its conversation" in str(end.error_text)


async def test_one_that_was_never_prompted_may_be_begun_anew(desk: AgentDesk) -> None:
    refused = await desk.run("say one", "no-resume", "no-load", model="unheard-of")
    assert refused.agent_session is None
    desk.kill()
    await desk.state("none")
    assert (await desk.run("say two", "no-resume", "no-load")).resumed_via == "new"


async def test_another_conversation_than_the_present_one_is_opened_when_it_is_named(desk: AgentDesk) -> None:
    first = await desk.run("say one")
    other = await desk.stage.run(
        "say two", session="ses_other", agent=desk.spec(), cwd=str(desk.work), provider="fake"
    )
    again = await desk.run("recall", resume=other.agent_session, resume_required=True)
    assert again.agent_session == other.agent_session != first.agent_session
    assert recalled(again.reply) == ["say two"]


async def test_an_agent_that_ends_again_and_again_is_not_started_for_a_while(desk: AgentDesk) -> None:
    for _ in range(3):
        end = await desk.run("say hi", "die-at-start")
        assert (end.outcome, end.stop_reason) == ("failed", "died")
        assert "fake: no licence found" in str(end.error_text)
    turn = desk.start("say hi", "die-at-start")
    desk.stage.stop(turn)
    assert (await desk.stage.end_of(turn)).outcome == "stopped"


async def test_a_new_folder_has_the_agent_started_again_there(desk: AgentDesk) -> None:
    await desk.run("say one")
    other = desk.folder / "other"
    other.mkdir()
    again = await desk.run("recall", turn_more={"cwd": str(other)})
    assert (again.resumed_via, recalled(again.reply)) == ("resume", ["say one"])


async def test_an_agent_of_a_turn_that_leaves_nothing_running_ends_with_it(desk: AgentDesk) -> None:
    first = await desk.run("say one", turn_more={"background": False})
    assert (await desk.state("none")).why == "closed"
    again = await desk.run("recall", turn_more={"background": False})
    assert (again.agent_session, recalled(again.reply)) == (first.agent_session, ["say one"])


async def test_of_too_many_idle_agents_those_go_to_sleep_that_waited_longest(open_desk: OpenDesk) -> None:
    desk = open_desk(most_idle=2)
    for name in ("ses_a", "ses_b", "ses_c"):
        more = {"session": name, "cwd": str(desk.work), "background": True}
        await desk.stage.run("say hi", agent=desk.spec(), provider="fake", **more)
    gone = await desk.state("none")
    assert (gone.session, gone.why) == ("ses_a", "idle")
    assert len(desk.provider.processes) == 2


async def test_a_turn_that_comes_while_its_agent_goes_to_sleep_has_another(open_desk: OpenDesk) -> None:
    desk = open_desk(most_idle=0)
    ends = [await desk.run("recall", "deaf-to-the-end") for _ in range(3)]
    assert [end.resumed_via for end in ends] == ["new", "resume", "resume"]
    assert recalled(ends[-1].reply) == ["recall", "recall"]


async def test_a_restart_opens_the_conversation_in_another_process_without_a_prompt(desk: AgentDesk) -> None:
    first = await desk.run("say one")
    (process,) = desk.provider.processes
    opened = await desk.run("say no more", turn_more={"opens": True})
    assert (opened.outcome, opened.reply, opened.resumed_via) == ("done", "", "resume")
    assert opened.agent_session == first.agent_session
    assert process not in desk.provider.processes
    again = await desk.run("recall")
    assert (again.resumed_via, recalled(again.reply)) == ("alive", ["say one"])


async def test_a_restart_that_cannot_continue_says_so(desk: AgentDesk) -> None:
    await desk.run("say one", "no-resume", "no-load")
    end = await desk.run("", "no-resume", "no-load", turn_more={"opens": True})
    assert end.outcome == "failed"
    assert "cannot continue its conversation" in str(end.error_text)
