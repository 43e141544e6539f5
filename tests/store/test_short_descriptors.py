"""Without a file descriptor to spare the relay says so, and nothing else that would be false."""

import os
import resource
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from showcaller.store import database
from showcaller.store.backup import back_up, restore
from showcaller.store.errors import StoreUnavailable
from showcaller.store.integrity import full_check
from tests.store.desk import Desk


@contextmanager
def spare_descriptors(count: int) -> Generator[None]:
    """Leave this process so many descriptors to open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open("/dev/null", os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def opened_and_closed(path: Path) -> None:
    """Open a store as its writer, and close it."""
    database.open_for_writing(path).close()


@pytest.mark.parametrize("count", range(6))
@pytest.mark.parametrize("act", ["check", "copy", "restore", "write"])
def test_what_comes_out_is_done_or_says_what_was_missing(
    desk: Desk, tmp_path: Path, act: str, count: int
) -> None:
    desk.session("kept")
    copy = back_up(desk.path, tmp_path / "copy.db")
    acts: dict[str, Callable[[], object]] = {
        "check": lambda: full_check(desk.path),
        "copy": lambda: back_up(desk.path, tmp_path / "other.db"),
        "restore": lambda: restore(copy, tmp_path / "new" / "store.db", at=7_000, alone=nullcontext),
        "write": lambda: opened_and_closed(tmp_path / "fresh" / "store.db"),
    }
    with spare_descriptors(count), suppress(StoreUnavailable):
        acts[act]()
    assert full_check(copy) == []


def test_without_any_the_way_out_is_told(desk: Desk) -> None:
    with spare_descriptors(0), pytest.raises(StoreUnavailable, match="ulimit"):
        full_check(desk.path)
