"""Every block of the guide to fan-outs does what the guide says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import GUIDES

GUIDE = GUIDES / "fan-out-a-job.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
TOLD = ("", "parts/4.txt", '"done":4', "done", "twice", "sizes", "ended", "## Prompt")
"""What each block writes, among other things."""


@pytest.mark.slow
def test_every_block_of_the_guide_does_what_it_says(tmp_path: Path) -> None:
    assert len(BLOCKS) == len(TOLD)
    folder = tmp_path / "job"
    folder.mkdir()
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "SHOWCALLER_HOME": str(tmp_path / "home"),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    for block, told in zip(BLOCKS, TOLD, strict=True):
        ended = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ended.returncode == 0, (block, ended.stdout, ended.stderr)
        assert told in ended.stdout + ended.stderr, (block, ended.stdout, ended.stderr)
