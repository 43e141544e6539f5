"""pykka's suite over both actor classes: its list of runtimes gets ours, in a copy of its tests."""

import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.compat import running, sources

OURS = "showcaller"
BEFORE = '@pytest.fixture(scope="session", params=RUNTIMES.values())\n'
ENTRY = """
from showcaller.actors.runtime import Actor as OurActor, Future as OurFuture

RUNTIMES["showcaller"] = pytest.param(
    Runtime(
        name="showcaller",
        actor_class=OurActor,
        event_class=threading.Event,
        future_class=OurFuture,
        sleep_func=time.sleep,
    ),
    id="showcaller",
)


"""


@dataclass
class Report:
    """What one run of the suite came to: outcomes per runtime (``other``: of none), and the failures."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    output: str = ""

    def passed(self, runtime: str) -> int:
        """Say how many tests of a runtime passed."""
        return self.outcomes.get(runtime, Counter())["passed"]

    @property
    def clean(self) -> bool:
        """True when tests of ours ran and nothing failed, of whatever runtime."""
        return not self.failures and self.passed(OURS) > 0


def add_our_runtime(conftest: str) -> str:
    """Put our class into the list of runtimes in the text of pykka's conftest; raises ``ValueError``."""
    if conftest.count(BEFORE) != 1:
        raise ValueError(
            "no fixture over RUNTIMES.values() in tests/conftest.py: this version keeps it elsewhere"
        )
    return conftest.replace(BEFORE, ENTRY + BEFORE)


def run(source: Path) -> Report:
    """Run the suite in the folder of pykka's sources once, in a copy."""
    with tempfile.TemporaryDirectory(prefix="pykka-suite-") as scratch:
        folder = Path(scratch)
        conftest = sources.copy(source, folder, "tests") / "conftest.py"
        conftest.write_text(add_our_runtime(conftest.read_text(encoding="utf-8")), encoding="utf-8")
        results = folder / "results.xml"
        plugins = ["-p", "no:cacheprovider", "-p", "pytest_mock", "-p", "pytest_timeout", "--timeout=60"]
        where = [f"--rootdir={folder}", f"--junitxml={results}"]
        done = running.run("-m", "pytest", "-q", *plugins, *where, "tests", cwd=folder, timeout=300)
        if not results.exists():
            return Report(failures=["the suite did not run"], output=done.stdout)
        report = read(results.read_text(encoding="utf-8"))
    report.output = done.stdout
    if done.returncode != 0 and not report.failures:
        report.failures.append(f"pytest ended with exit code {done.returncode}")
    return report


def read(results: str) -> Report:
    """Read a JUnit file of the suite."""
    report = Report()
    for case in ET.fromstring(results).iter("testcase"):
        name = case.get("name", "")
        outcome = _outcome(case)
        report.outcomes.setdefault(_runtime(name), Counter())[outcome] += 1
        if outcome == "failed":
            report.failures.append(f"{case.get('classname', '')}::{name}")
    return report


def _outcome(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def _runtime(name: str) -> str:
    """Find the runtime in a test's name: ``test_ask[showcaller-block]``."""
    parameters = name.partition("[")[2].rstrip("]").split("-")
    return next((known for known in (OURS, "threading") if known in parameters), "other")
