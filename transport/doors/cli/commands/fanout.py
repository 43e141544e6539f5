"""``showcaller fanout``: one session per item, so many at a time, every result recorded."""

from typing import Any

import click

from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.exits import EXIT_HELP
from showcaller.transport.doors.cli.fanout.options import Format, Options, check
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.parsing import Command
from showcaller.transport.doors.cli.relay import Door

HELP = f"""Run a command or a Python function once for each item.

\b
Examples:
  showcaller fanout 'wc -l {{}}' docs/*.md
  showcaller fanout 'make -C {{}} test' packages/* --jobs 16 --timeout 10m --retries 1
  showcaller fanout --callable mymodule:work --input items.jsonl --json
  showcaller fanout --provider claude --prompt 'Mend the tests of {{}}' packages/*
  showcaller fanout --resume grp_0d1v9x3k7q2m

In a command, {{}} is the item quoted for the shell (not to be put inside quotes),
{{raw}} the item as it is, {{n}} its number. Each item runs as a session of its own
in the present folder; all are in one group.
Write -- before items that may begin with a dash: showcaller fanout 'wc -l ./{{}}' -- *

With --callable the function is imported, from the present folder first, and
called with each item: a word of the command line as text, a line of --input as
its JSON value. A second parameter, ctx, makes it one that can be asked to end
(ctx.cancelled) and that says how far it is (ctx.progress). What it returns is
its reply: text as it is, None as nothing, all else as JSON.

With --prompt each item is a session of an agent, or of a command of yours that
gets prompts as its input, and {{}} is the item as it is. What an agent may do
only with your leave waits in the inbox: showcaller serve lets you answer.

Only results go to standard output. What a function or a process that it starts
writes there goes to standard error, or to the relay, where one runs. Of a longer
output 1 MiB is kept: the middle is left out, and its line of JSON has
"truncated": true.

Every result is recorded: after Ctrl-C, a crash or a reboot, --resume goes on,
and runs nothing again that ended. It shows the results of a fan-out that has
ended once more. One fan-out runs at a time in a data folder, unless a relay runs
there (showcaller serve): that one is used then, and takes any number.

{EXIT_HELP}
"""


class FanoutCommand(Command):
    """A command that knows that what looks like an unknown option may be an item, such as a file's name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and say of an unknown option how to write it as an item."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = f"{error.format_message()} If it is an item, write -- before the items."
            raise click.UsageError(hint, ctx) from error


@click.command("fanout", cls=FanoutCommand, help=HELP)
@click.argument("words", nargs=-1, metavar="[TEMPLATE] [ITEMS]...")
@click.option("--jobs", type=click.IntRange(min=1), help="How many at a time.  [default: cores, at least 4]")
@click.option(
    "--timeout",
    type=Duration(),
    help="How long one attempt may take: 30s, 5m, 1h30m; a bare number is seconds.  [default: no limit]",
)
@click.option(
    "--retries", type=click.IntRange(min=0), help="How often a failed item is tried again.  [default: 0]"
)
@click.option("--name", metavar="NAME", help="The group's name.  [default: one is made]")
@click.option("--input", metavar="FILE", help="Read items from JSON Lines; - is standard input.")
@click.option(
    "--callable",
    "function",
    metavar="MODULE:FUNCTION",
    help="Run a Python function for each item; see above.",
)
@click.option("--prompt", metavar="TEMPLATE", help="Prompt an agent for each item, with --provider.")
@click.option(
    "--provider", metavar="NAME", help="The agent that --prompt is for, as showcaller providers names it."
)
@click.option(
    "--resume",
    metavar="GROUP",
    help="Go on with a fan-out, by its group's id or name, and show all its results.",
)
@click.option(
    "--no-rerun", is_flag=True, help="With --resume: report items cut in the middle, run them not again."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format jsonl.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "jsonl", "csv"], case_sensitive=False),
    help="How results are written.  [default: table]",
)
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on standard error.")
@home_option
@click.pass_obj
def command(door: Door, /, as_json: bool, form: Format | None, quiet: bool, **typed: Any) -> int:
    """Run or go on with a fan-out and give the exit code."""
    options = Options(**typed)
    check(options)
    if as_json and form not in (None, "jsonl"):
        raise click.UsageError(f"--json and --format {form} contradict each other.")
    # Imported here, for the help and usage errors must be quick.
    from showcaller.transport.doors.cli.fanout.launch import launch

    chosen: Format = "jsonl" if as_json else form or "table"
    return launch(door, options, chosen, quiet=quiet)
