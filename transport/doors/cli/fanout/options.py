"""What ``showcaller fanout`` was asked for, checked as a whole before anything is opened or started."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from showcaller.actors.contract.fanout import FanoutSpec

FEWEST_JOBS = 4
Kind = Literal["command", "prompt", "callable"]
Format = Literal["table", "jsonl", "csv"]


@dataclass(frozen=True)
class Options:
    """The arguments of one ``fanout`` as they were typed; what was left out is None, empty or False."""

    words: tuple[str, ...] = ()
    input: str | None = None
    function: str | None = None
    prompt: str | None = None
    provider: str | None = None
    jobs: int | None = None
    timeout: float | None = None
    retries: int | None = None
    name: str | None = None
    resume: str | None = None
    no_rerun: bool = False

    @property
    def kind(self) -> Kind:
        """What runs for each item."""
        if self.function is not None:
            return "callable"
        return "command" if self.prompt is None else "prompt"

    @property
    def template(self) -> str:
        """The command line, the prompt or the function that each item goes through."""
        if self.function is not None:
            return self.function
        return self.words[0] if self.prompt is None else self.prompt

    @property
    def item_words(self) -> tuple[str, ...]:
        """The items among the words: all, but for the template of a command."""
        return self.words[1:] if self.kind == "command" else self.words


def check(options: Options) -> None:
    """Refuse what cannot be meant together; raises ``click.UsageError`` that says how to write it."""
    if options.resume is not None:
        _check_resume(options)
        return
    if options.no_rerun:
        raise click.UsageError(
            "--no-rerun says what --resume does with items cut in the middle: it needs --resume."
        )
    if options.function is not None and options.prompt is not None:
        raise click.UsageError("--callable and --prompt both say what runs: give one.")
    if options.prompt is not None and options.provider is None:
        raise click.UsageError("--prompt needs --provider: the agent that gets the prompt.")
    if options.provider is not None and options.prompt is None:
        raise click.UsageError("--provider names the agent for --prompt, which is missing.")
    if options.kind == "command" and not options.words:
        raise click.UsageError("No command line: write one, such as 'wc -l {}', and then the items.")
    _check_items(options)


def _check_items(options: Options) -> None:
    if options.input is not None and options.item_words:
        raise click.UsageError("Items are given as arguments or with --input, not both.")
    if options.input is None and not options.item_words:
        raise click.UsageError("No items: write them after the options, or name a file of them with --input.")


def _check_resume(options: Options) -> None:
    fixed = {
        "--input": options.input,
        "--callable": options.function,
        "--prompt": options.prompt,
        "--provider": options.provider,
        "--timeout": options.timeout,
        "--retries": options.retries,
        "--name": options.name,
    }
    given = [name for name, value in fixed.items() if value is not None]
    if options.words:
        given.insert(0, "the command line and the items")
    if given:
        raise click.UsageError(
            f"--resume goes on with the fan-out as it was started: leave out {', '.join(given)}."
        )


def spec_of(options: Options) -> "FanoutSpec":
    """Give the fan-out that the options ask for, to run in the present folder.

    Raises ``click.UsageError`` when the template or a value is not acceptable.
    """
    from pydantic import ValidationError

    from showcaller.actors.contract.fanout import FanoutSpec

    try:
        return FanoutSpec(
            kind=options.kind,
            template=options.template,
            provider=options.provider or options.kind,
            jobs=default_jobs(os.cpu_count()) if options.jobs is None else options.jobs,
            timeout=options.timeout,
            retries=options.retries or 0,
            cwd=_present_folder(),
            name=options.name,
            rerun=True,
        )
    except ValidationError as error:
        raise click.UsageError(f"{'; '.join(map(_reason, error.errors()))}.") from error


def _reason(detail: "ErrorDetails") -> str:
    from showcaller.actors.contract.problems import named_problem

    own = detail.get("ctx", {}).get("error")
    return named_problem(detail) if own is None else str(own).rstrip(".")


def default_jobs(cores: int | None) -> int:
    """Give how many items run at a time when nobody said: one per core, at least ``FEWEST_JOBS``."""
    return max(FEWEST_JOBS, cores or 1)


def _present_folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError as error:
        raise click.UsageError("The present folder is gone; change to one that exists.") from error
