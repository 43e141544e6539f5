"""What a person sees who runs it in a terminal."""

import os
import pty
import subprocess
from collections.abc import Iterator

from tests.e2e.program import PROGRAM, Showcaller


def seen(showcaller: Showcaller, *arguments: str) -> str:
    """Run the program on a terminal of its own and give all that was written there."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "SHOWCALLER_HOME": str(showcaller.home), "TERM": "xterm", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [str(PROGRAM), *arguments],
        cwd=showcaller.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ):
        os.close(theirs)
        written = b"".join(_all(ours))
    os.close(ours)
    return written.decode()


def _all(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 65536)
        except OSError:  # nobody has the other end any more
            return


def test_a_bar_with_what_fails_and_then_the_table(showcaller: Showcaller) -> None:
    text = seen(showcaller, "fanout", "[ {} != 2 ]", "1", "2", "3")
    bar, table = text.split("ITEM", 1)
    assert "3/3" in bar
    assert "failed: 2: exited with code 1" in bar
    assert bar.endswith("\x1b[2K")
    assert "\x1b[31mfailed\x1b[0m" in table
    assert table.count("\x1b[32mdone\x1b[0m") == 2
    assert "2 done, 1 failed" in table


def test_no_item_and_no_reply_steers_the_terminal(showcaller: Showcaller) -> None:
    evil = "\x1b]0;title\x07\u202e\x9b2J"
    for form in ("table", "jsonl", "csv"):
        text = seen(showcaller, "fanout", "printf %s {}; exit 1", evil, "--format", form)
        assert not [sign for sign in ("\x1b]", "\x07", "\u202e", "\x9b") if sign in text], form
    listed = seen(showcaller, "sessions")
    assert not [sign for sign in ("\x1b]", "\x07", "\u202e", "\x9b") if sign in listed]
    assert listed.count("\\x1b]0;") == 3


def test_rows_fit_the_terminal(showcaller: Showcaller) -> None:
    text = seen(showcaller, "fanout", "echo {} {} {}", "x" * 100, "-q")
    assert [len(line) for line in text.replace("\x1b[32m", "").replace("\x1b[0m", "").splitlines()][1] <= 80
