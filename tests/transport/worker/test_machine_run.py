"""Which run of the machine this is."""

from collections.abc import Generator
from pathlib import Path

import pytest

from showcaller.transport.worker import machine_run as module
from showcaller.transport.worker.machine_run import machine_run


@pytest.fixture(autouse=True)
def forgotten() -> Generator[None]:
    machine_run.cache_clear()
    yield
    machine_run.cache_clear()


@pytest.mark.parametrize(("text", "named"), [("0b1c-2d\n", "0b1c-2d"), ("", None), ("\n", None)])
def test_a_run_has_the_name_that_the_system_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, named: str | None
) -> None:
    (tmp_path / "boot").write_text(text)
    monkeypatch.setattr(module, "_BOOT", tmp_path / "boot")
    assert machine_run() == named


def test_a_system_without_names_of_its_runs_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BOOT", tmp_path / "missing")
    assert machine_run() is None
