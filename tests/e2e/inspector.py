"""The inspector of the Model Context Protocol, fetched from npm once and kept outside the checkout."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

VERSION = "2.12.0"
NODE = "22"
OLDEST_NODE = (22, 19)
PATIENCE = 600.0


def inspector() -> tuple[str, str]:
    """Give the command that runs it: a node that is new enough, and its program.

    Skips the test where there is no npm; with ``CI`` set that is a failure.
    """
    npm = shutil.which("npm")
    if npm is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "npm is missing: the inspector comes from there"
        )
    own_node = None if _is_new_enough(shutil.which("node")) else NODE
    folder = _cache() / f"showcaller-inspector-{VERSION}{'' if own_node is None else f'-node-{own_node}'}"
    if not folder.exists():
        _install(npm, folder, own_node)
    programs = folder / "node_modules" / ".bin"
    node = shutil.which("node") if own_node is None else str(programs / "node")
    assert node is not None
    return node, str(programs / "mcp-inspector")


def _is_new_enough(node: str | None) -> bool:
    if node is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", told)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_NODE


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) if base else Path.home() / ".cache"


def _install(npm: str, folder: Path, own_node: str | None) -> None:
    partly = folder.with_name(f"{folder.name}.{os.getpid()}.partly")
    partly.mkdir(parents=True)
    try:
        (partly / "package.json").write_text("{}\n")
        if own_node is not None:  # whose program is fetched by a script of its package
            _npm_install(npm, partly, f"node@{own_node}")
        _npm_install(npm, partly, "--ignore-scripts", f"@modelcontextprotocol/inspector@{VERSION}")
        partly.rename(folder)
    finally:
        shutil.rmtree(partly, ignore_errors=True)


def _npm_install(npm: str, folder: Path, *words: str) -> None:
    install = [npm, "install", "--no-audit", "--no-fund", *words]
    ended = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, (install, ended.stdout, ended.stderr)
