"""Run pykka's own suite over our actor class: ``python -m tests.compat.pykka_suite``."""

import argparse
import sys
from pathlib import Path

import click

from tests.compat import running, sources, suite


def arguments(words: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat.pykka_suite", description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="run it so many times in a row (1)")
    parser.add_argument("--load", type=int, default=0, help="keep so many processes computing meanwhile (0)")
    parser.add_argument("--source", type=Path, help="a folder with pykka's sources, instead of fetching them")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Fetch, run, report; gives the exit code: 0 all passed, 1 something failed, 2 no sources."""
    chosen = arguments(words)
    try:
        source = chosen.source or sources.fetch()
    except sources.Unreachable as fault:
        click.echo(fault, err=True)
        return 2
    with running.busy_machine(chosen.load):
        reports = [_one_run(source, number) for number in range(1, chosen.times + 1)]
    return 0 if all(report.clean for report in reports) else 1


def _one_run(source: Path, number: int) -> suite.Report:
    report = suite.run(source)
    for runtime, counts in sorted(report.outcomes.items()):
        found = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        click.echo(f"run {number}  {source.name}  {runtime:<10}  {found}")
    for failure in report.failures:
        click.echo(f"run {number}  FAILED  {failure}")
    if not report.clean:
        click.echo(report.output)
    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
