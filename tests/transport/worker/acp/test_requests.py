"""Files and terminals of an agent: in the folders of its session, and gone with it."""

import os

from tests.transport.worker.acp.desk import AgentDesk
from tests.transport.worker.stage import wait_gone


async def test_files_of_its_folders_are_read_and_written(desk: AgentDesk) -> None:
    other = desk.folder / "other"
    other.mkdir()
    (other / "a.txt").write_text("one\ntwo\n")
    orders = f"write {desk.work}/new/b.txt hello\nread {desk.work}/new/b.txt\nread {other}/a.txt"
    end = await desk.run(orders, folders=(str(other),))
    assert end.reply == "written\nhello\none\ntwo\n\n"
    assert (desk.work / "new" / "b.txt").read_text() == "hello"


async def test_no_file_outside_is_read_or_written(desk: AgentDesk) -> None:
    secret = desk.folder / "secret.txt"
    secret.write_text("secret")
    (desk.work / "link.txt").symlink_to(secret)
    (desk.work / "folder").symlink_to(desk.folder)
    os.mkfifo(desk.work / "pipe")
    paths = [
        secret,
        desk.work / "link.txt",
        desk.work / "folder" / "secret.txt",
        f"{desk.work}/../secret.txt",
    ]
    orders = [f"read {path}" for path in paths] + [f"write {path} bad" for path in paths]
    end = await desk.run("\n".join([*orders, f"read {desk.work}/pipe", "read relative.txt"]))
    lines = end.reply.splitlines()
    assert len(lines) == 2 * len(paths) + 2
    assert [line.split()[0] for line in lines] == ["refused:"] * len(lines)
    assert all("outside of the folders of this session" in line for line in lines[:-2])
    assert lines[-2:] == [
        f"refused: {desk.work / 'pipe'} is no ordinary file",
        "refused: 'relative.txt' is no absolute path",
    ]
    assert secret.read_text() == "secret"


async def test_a_command_runs_in_a_terminal_in_the_folder(desk: AgentDesk) -> None:
    end = await desk.run("terminal pwd; exit 3\nterminal-kill sleep 1000")
    assert end.reply == f"3 {desk.work}\n\nSIGKILL\n"


async def test_a_terminal_keeps_the_end_of_what_it_is_told(desk: AgentDesk) -> None:
    end = await desk.run("terminal yes x | head -c 5000; echo end")
    code, _, output = end.reply.partition(" ")
    assert (code, len(output.strip()) <= 1000, output.strip()[-3:]) == ("0", True, "end")


async def test_terminals_end_with_their_agent(desk: AgentDesk) -> None:
    end = await desk.run("terminal-leave setsid sleep 1000 & echo $$ $! ready; sleep 1000")
    found = [int(pid) for pid in end.reply.split()[:2]]
    desk.kill()
    assert [wait_gone(pid) for pid in found] == [True, True]
