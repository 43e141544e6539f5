"""Real agents that cannot be had are told of: a skip with the reason on a desk, a failure in CI."""

from pathlib import Path

import pytest

from tests.agents.installed import CACHE, packages, program_folder


@pytest.fixture
def without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))


@pytest.mark.usefixtures("without_npm")
def test_without_npm_a_test_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="node is not installed, and codex comes from npm"):
        program_folder(packages()["codex"])


@pytest.mark.usefixtures("without_npm")
def test_in_ci_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="node is not installed, and codex comes from npm"):
        program_folder(packages()["codex"])


def test_a_package_that_npm_does_not_bring_is_told_with_its_words_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("node", "npm"):
        (tmp_path / program).write_text("#!/bin/sh\necho no such registry >&2; exit 1\n")
        (tmp_path / program).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("CI", "true")
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match=r"npm did not bring .*codex-acp.*: no such registry"):
            program_folder(packages()["codex"])
