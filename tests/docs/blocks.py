"""The fenced blocks of a guide, and how they are run.

A fence says what it is: ``python`` goes on where the block before stopped, ``python program`` runs by
itself, and ``python name.py`` is a file of tests for pytest. A ``text`` block below shows what the block
above it prints; ``text numbers vary`` leaves numbers out of the comparison.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(\.\d+)?")
CUT = "----- next block -----"


@dataclass(frozen=True)
class Block:
    """One fenced block of a guide: its info string, text, and first line, and what it should print."""

    info: str
    text: str
    line: int
    shown: "Block | None" = None

    def agrees(self, printed: str) -> bool:
        """Say whether what a block printed is what this block shows."""
        if self.info == "text numbers vary":
            return NUMBER.sub("N", printed) == NUMBER.sub("N", self.text)
        return printed == self.text


def guides() -> list[Path]:
    """Give the files of all guides."""
    return sorted(GUIDES.glob("*.md"))


def read(text: str) -> list[Block]:
    """Find the blocks of a guide; the shown output is joined to the block above it."""
    found = [
        Block(match["info"].strip(), match["text"], text.count("\n", 0, match.start("text")) + 1)
        for match in FENCE.finditer(text)
    ]
    blocks = []
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.info.startswith("python"):
            shown = following if following is not None and following.info.startswith("text") else None
            blocks.append(Block(block.info, block.text, block.line, shown))
        elif not block.info.startswith("text"):
            blocks.append(block)
    return blocks


def session(guide: Path, blocks: list[Block]) -> list[str]:
    """Run blocks one after the other in one fresh interpreter; gives what each printed."""
    source = [f"import builtins; names = {{'__name__': 'guide'}}; cut = {CUT!r}"]
    for block in blocks:
        padded = "\n" * (block.line - 1) + block.text  # so that a traceback names the line of the guide
        source.append(f"exec(compile({padded!r}, {str(guide)!r}, 'exec'), names); print(cut)")
    return run("-c", "\n".join(source)).split(f"{CUT}\n")[: len(blocks)]


def program(block: Block) -> str:
    """Run one block in a fresh interpreter; gives what it printed."""
    return run("-c", block.text)


def tests(block: Block, folder: Path) -> str:
    """Run one block as a file of tests; gives pytest's output."""
    name = block.info.removeprefix("python ")
    (folder / name).write_text(block.text, encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:asyncio", f"--rootdir={folder}", "-c", "/dev/null"]
    return run("-m", "pytest", *options, str(folder / name))


def run(*arguments: str) -> str:
    """Run Python in the checkout with warnings as errors; gives its output, or fails with all of it."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 0 or "Traceback" in done.stderr:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
