"""``showcaller fanout``: one session per item, so many at a time, every result recorded."""

from typing import Any

import click

from showcaller.transport.doors.cli.durations import Duration
from showcaller.transport.doors.cli.exits import EXIT_HELP
from showcaller.transport.doors.cli.fanout.options import Format, Options, check
from showcaller.transport.doors.cli.home import home_option
from showcaller.transport.doors.cli.relay import Door

HELP = f"""Run a command, a Python function or a prompt once for each item.

\b
Examples:
  showcaller fanout 'wc -l {{}}' docs/*.md
  showcaller fanout 'make -C {{}} test' packages/* --jobs 16 --timeout 10m --retries 1
  showcaller fanout --callable mymodule:work --input items.jsonl --json
  showcaller fanout --resume grp_0d1v9x3k7q2m

In a command, {{}} is the item quoted for the shell (not to be put inside quotes),
{{raw}} the item as it is, {{n}} its number. Each item runs as a session of its own
in the present folder; all are in one group. Every result is recorded: after
Ctrl-C, a crash or a reboot, --resume goes on, and runs nothing again that ended.
Write -- before items that may begin with a dash: showcaller fanout 'wc -l ./{{}}' -- *

{EXIT_HELP}
"""


class FanoutCommand(click.Command):
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
@click.option("--timeout", type=Duration(), help="How long one attempt may take: 30s, 5m, 1h30m.")
@click.option(
    "--retries", type=click.IntRange(min=0), help="How often a failed item is tried again.  [default: 0]"
)
@click.option("--name", metavar="NAME", help="The group's name.  [default: one is made]")
@click.option("--input", metavar="FILE", help="Read items from JSON Lines; - is standard input.")
@click.option(
    "--callable", "function", metavar="MODULE:FUNCTION", help="Run a Python function for each item."
)
@click.option("--prompt", metavar="TEXT", help="Send a prompt for each item to --provider.")
@click.option("--provider", metavar="NAME", help="The agent that gets the prompts.")
@click.option("--resume", metavar="GROUP", help="Go on with a fan-out: its group's id or name.")
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
