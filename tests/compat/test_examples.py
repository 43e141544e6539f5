"""pykka's documented examples print the same when only the base class is replaced."""

import re

import pytest

from tests.compat import running
from tests.compat.examples import Examples, replace_base, until_it_relaxes, without_thread_names

pytestmark = [pytest.mark.compat, pytest.mark.slow]


def test_every_example_of_this_version_is_covered_here(pairs: Examples) -> None:
    covered = "basic cooperation deadlock proxy proxy_typing testing testing_test worker_pool"
    assert set(pairs.names) - {"sitecustomize"} == set(covered.split())


def test_only_the_base_class_is_replaced() -> None:
    theirs = "import pykka\n\n\nclass Adder(pykka.ThreadingActor):\n    pass\n"
    ours = "from showcaller import Actor\nimport pykka\n\n\nclass Adder(Actor):\n    pass\n"
    assert replace_base(theirs) == ours


def test_the_basic_example_prints_the_same(pairs: Examples) -> None:
    theirs, ours = pairs.printed("basic")
    assert ours == theirs == "[{'no': 'Norway', 'se': 'Sweden'}, {'a': 3, 'b': 4, 'c': 5}]\n"


def test_two_cooperating_actors_print_the_same_in_the_same_order(pairs: Examples) -> None:
    theirs, ours = pairs.printed("cooperation")
    assert ours == theirs
    assert len(ours.splitlines()) == 10


def test_the_proxy_example_prints_the_same_but_for_the_names_of_threads(pairs: Examples) -> None:
    theirs, ours = pairs.printed("proxy")
    assert without_thread_names(ours) == without_thread_names(theirs)
    assert "actor: this was printed by FooActor.bar()" in without_thread_names(ours)


def test_the_worker_pool_resolves_the_same_names(pairs: Examples) -> None:
    theirs, ours = pairs.printed("worker_pool")
    assert sorted(ours.splitlines()) == sorted(theirs.splitlines())
    assert ours.count("'host-193.35.52.") == 9


def test_the_testing_example_passes_as_it_stands(pairs: Examples) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "pytest_mock", f"--rootdir={pairs.ours}"]
    done = running.run("-m", "pytest", *options, "testing_test.py", cwd=pairs.ours, folders=(pairs.ours,))
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.usefixtures("_mypy")
def test_a_typed_proxy_shows_type_checkers_the_same_types(pairs: Examples) -> None:
    shown = []
    for folder in (pairs.theirs, pairs.ours):
        options = ["--strict", "--no-incremental", "--follow-imports=silent"]
        done = running.run("-m", "mypy", *options, "proxy_typing.py", cwd=folder)
        assert done.returncode == 0, done.stdout
        shown.append(re.findall("Revealed type is .*", done.stdout))
    assert shown[0] == shown[1]
    assert len(shown[1]) == 3


def test_the_deadlock_of_the_example_becomes_an_error_that_names_the_actors(pairs: Examples) -> None:
    ours = until_it_relaxes(pairs.ours, "deadlock", "to terminate the process")
    assert "This is bar calling foo; BOOM!" in ours
    assert "AskCycle" in ours
    assert "ActorB" in ours.partition("AskCycle")[2]


def test_an_example_that_forgets_to_stop_its_actor_ends_by_itself(pairs: Examples) -> None:
    done = running.run("proxy_typing.py", cwd=pairs.ours, timeout=30)
    assert (done.returncode, done.stdout) == (0, "")
