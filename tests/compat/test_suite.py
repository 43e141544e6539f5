"""pykka's own suite passes with our actor class in its list of runtimes."""

import sys
from pathlib import Path

import pytest

from tests.compat import pykka_suite, sources, suite

pytestmark = [pytest.mark.compat, pytest.mark.slow]

SMALL_RESULTS = """
<testsuites><testsuite>
<testcase classname="tests.test_actor" name="test_a[showcaller]"/>
<testcase classname="tests.test_actor" name="test_a[threading]"/>
<testcase classname="tests.test_actor" name="test_b[showcaller-block]"><failure message="no"/></testcase>
<testcase classname="tests.test_thread" name="test_c"><skipped/></testcase>
</testsuite></testsuites>
"""


def test_pykkas_suite_passes_with_our_class_as_often_as_with_pykkas_own(source: Path) -> None:
    report = suite.run(source)
    assert report.failures == [], report.output
    assert report.passed("showcaller") == report.passed("threading") > 100


def test_a_failing_test_of_ours_is_named_and_no_success() -> None:
    report = suite.read(SMALL_RESULTS)
    assert report.failures == ["tests.test_actor::test_b[showcaller-block]"]
    assert (report.passed("showcaller"), report.passed("threading")) == (1, 1)
    assert report.outcomes["other"] == {"skipped": 1}
    assert not report.clean


def test_a_run_without_tests_of_ours_is_no_success() -> None:
    assert not suite.read("<testsuites/>").clean


def test_a_conftest_that_keeps_its_runtimes_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="keeps it elsewhere"):
        suite.add_our_runtime("RUNTIMES = {}\n")


def test_the_command_says_what_keeps_it_from_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sources, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(sys, "executable", "/bin/false")  # a pip that can download nothing
    assert pykka_suite.main([]) == 2
    assert "could not download the sources of pykka==" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_another_series_of_pykka_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "version", lambda _: "9.0.1")
    with pytest.raises(sources.Unreachable, match=r"pip install 'pykka==4\.5\.\*'"):
        sources.installed_version()
