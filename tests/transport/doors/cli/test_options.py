"""What may be asked of ``fanout`` together."""

from pathlib import Path

import click
import pytest

from showcaller.transport.doors.cli.fanout.options import Options, check, default_jobs, spec_of


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(), "No command line"),
        (Options(words=("wc {}",)), "No items"),
        (Options(words=("wc {}", "a"), input="items.jsonl"), "not both"),
        (Options(function="m:f"), "No items"),
        (Options(function="m:f", prompt="x", words=("a",)), "give one"),
        (Options(prompt="x {}", words=("a",)), "--prompt needs --provider"),
        (Options(provider="claude", words=("wc {}", "a")), "--prompt, which is missing"),
        (Options(words=("wc {}", "a"), no_rerun=True), "needs --resume"),
        (Options(resume="g", words=("wc {}", "a")), "leave out the command line and the items"),
        (Options(resume="g", timeout=3.0, retries=0, name="x"), "leave out --timeout, --retries, --name"),
    ],
)
def test_a_contradiction_is_refused_with_the_way_to_write_it(options: Options, said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        check(options)


@pytest.mark.parametrize(
    "options",
    [
        Options(words=("wc {}", "a")),
        Options(words=("wc {}",), input="-"),
        Options(words=("a", "b"), function="m:f"),
        Options(words=("a",), prompt="Do {}", provider="claude"),
        Options(resume="g", no_rerun=True, jobs=3),
    ],
)
def test_what_can_be_meant_passes(options: Options) -> None:
    check(options)


def test_a_commands_first_word_is_its_template_and_the_others_are_items() -> None:
    options = Options(words=("wc {}", "a", "b"))
    assert (options.kind, options.template, options.item_words) == ("command", "wc {}", ("a", "b"))


@pytest.mark.parametrize(
    ("options", "kind", "template"),
    [
        (Options(words=("a", "b"), function="m:f"), "callable", "m:f"),
        (Options(words=("a", "b"), prompt="Do {}", provider="p"), "prompt", "Do {}"),
    ],
)
def test_with_a_function_or_a_prompt_all_words_are_items(options: Options, kind: str, template: str) -> None:
    assert (options.kind, options.template, options.item_words) == (kind, template, ("a", "b"))


def test_the_specification_holds_what_was_asked_and_the_present_folder() -> None:
    spec = spec_of(Options(words=("wc {}", "a"), jobs=7, timeout=2.5, retries=2, name="counts"))
    assert (spec.kind, spec.template, spec.provider) == ("command", "wc {}", "command")
    assert (spec.jobs, spec.timeout, spec.retries, spec.name) == (7, 2.5, 2, "counts")
    assert spec.cwd == str(Path.cwd())
    assert spec.rerun


@pytest.mark.parametrize(("cores", "jobs"), [(None, 4), (1, 4), (4, 4), (16, 16)])
def test_as_many_jobs_as_cores_but_at_least_four(cores: int | None, jobs: int) -> None:
    assert default_jobs(cores) == jobs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(words=("wc '{}'", "a")), "inside single quotes"),
        (Options(words=("wc", "a")), "has none of"),
        (Options(words=("a",), function="no function"), "module:function"),
        (Options(words=("wc {}", "a"), name="x" * 201), "name"),
    ],
)
def test_a_template_that_cannot_be_is_a_usage_error(options: Options, said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        spec_of(options)
