"""The wheel and the source distribution hold what they should, and the wheel works where it is installed."""

import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.arch.checkout import ROOMS, Checkout, Outcome, python_run, tool_run

pytestmark = pytest.mark.slow


class Distributions(NamedTuple):
    """The two files that are published, and the names in each; the sdist's without its top folder."""

    wheel: Path
    in_wheel: set[str]
    in_sdist: set[str]


@pytest.fixture(scope="session")
def built(clean: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Build both as a release does, the wheel from the sdist, with the setuptools that is installed."""
    target = tmp_path_factory.mktemp("dist")
    outcome = tool_run("pyproject-build", "--no-isolation", f"--outdir={target}", cwd=clean.path)
    assert outcome.code == 0, outcome.text
    (wheel,) = target.glob("*.whl")
    (sdist,) = target.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as tar:
        in_sdist = {member.name.partition("/")[2] for member in tar.getmembers() if member.isfile()}
    return Distributions(wheel, in_wheel, in_sdist)


def sources(checkout: Checkout, folder: str) -> set[str]:
    """Name the Python modules under a folder, by their path in the checkout."""
    return {str(path.relative_to(checkout.path)) for path in (checkout.path / folder).rglob("*.py")}


def test_the_wheel_holds_every_module_once_and_nothing_else(built: Distributions, clean: Checkout) -> None:
    own = {path for path in sources(clean, "showcaller") if path.split("/")[1] not in ROOMS}
    linked = {f"showcaller/{path}" for room in ROOMS for path in sources(clean, room)}
    metadata = {name for name in built.in_wheel if ".dist-info/" in name}
    others = {name for name in built.in_wheel - metadata if not name.endswith(".py")}
    assert {name for name in built.in_wheel if name.endswith(".py")} == own | linked
    assert "showcaller/py.typed" in others
    assert all(name.startswith("showcaller/") for name in others)
    assert any(name.endswith("/licenses/LICENSE") for name in metadata)


def test_the_wheel_puts_no_name_but_showcaller_beside_the_users_own(built: Distributions) -> None:
    top = {name.split("/")[0] for name in built.in_wheel}
    assert {name for name in top if not name.endswith(".dist-info")} == {"showcaller"}


def test_the_source_distribution_holds_tests_bench_docs_and_the_ci_script(
    built: Distributions, clean: Checkout
) -> None:
    wanted = sources(clean, "tests") | sources(clean, "bench")
    wanted |= {str(path.relative_to(clean.path)) for path in (clean.path / "docs").rglob("*.md")}
    wanted |= {".ci/run", "LICENSE", "README.md", "CHANGELOG.md", "setup.cfg", "pyproject.toml"}
    wanted |= {f"showcaller/{room}/__init__.py" for room in ROOMS}
    assert wanted - built.in_sdist == set()


class Installed(NamedTuple):
    """A program's folder that has modules of its own named like our folders, beside an environment."""

    folder: Path
    python: str

    def run(self, *arguments: str) -> Outcome:
        """Run the environment's interpreter in the program's folder."""
        return python_run(*arguments, cwd=self.folder, interpreter=self.python)


@pytest.fixture(scope="session")
def installed(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the wheel into a fresh environment, without a network: dependencies come from this one."""
    environment = tmp_path_factory.mktemp("environment")
    folder = tmp_path_factory.mktemp("program")
    outcome = python_run("-m", "venv", "--without-pip", str(environment), cwd=folder)
    assert outcome.code == 0, outcome.text
    python = str(environment / "bin" / "python")
    outcome = python_run(
        "-m", "pip", f"--python={python}", "install", "--no-deps", "--no-index", str(built.wheel), cwd=folder
    )
    assert outcome.code == 0, outcome.text
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = environment / "lib" / version / "site-packages"
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    for name in ROOMS:
        (folder / f"{name}.py").write_text(f'OWNER = "the program, {name}"\n', encoding="utf-8")
    return Installed(folder, python)


def test_the_installed_package_lives_beside_a_programs_own_modules(installed: Installed) -> None:
    code = "import actors, showcaller, store, transport; print(store.OWNER, showcaller.__file__, sep='\\n')"
    outcome = installed.run("-c", code)
    assert outcome.code == 0, outcome.text
    owner, origin = outcome.text.splitlines()
    assert owner == "the program, store"
    assert Path(origin).is_relative_to(Path(installed.python).parents[1])


def test_the_installed_package_gives_its_public_names(installed: Installed) -> None:
    outcome = installed.run(
        "-c", "from showcaller import Actor, Relay; print(Actor.__name__, Relay.__name__)"
    )
    assert outcome == (0, "Actor Relay\n")


def test_a_plain_install_gives_the_command(installed: Installed) -> None:
    command = Path(installed.python).with_name("showcaller")
    by_name = python_run(str(command), "--help", cwd=installed.folder, interpreter=installed.python)
    by_module = installed.run("-m", "showcaller", "--help")
    assert by_name.code == by_module.code == 0, by_name.text + by_module.text
    assert "fanout" in by_name.text
    assert "fanout" in by_module.text
