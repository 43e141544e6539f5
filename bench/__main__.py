"""The command: ``python -m bench list``, ``python -m bench runtime --peers pykka,asyncio``."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from bench import catalogue, machine, measuring, peer, plan, plot, record, table
from bench.comparison import Comparison
from bench.peer import PEERS, Peer
from bench.row import US, Row

LIMITS = {"tiny": 60.0, "normal": 300.0}  # seconds that one measurement may take
ALL = ",".join(known.name for known in PEERS)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="list|NAME…")
@click.option("--peers", "peer_names", default=ALL, show_default=True, help="Whom to compare with, or none.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything measured here.")
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw the comparison here (SVG).")
@click.option("--size", type=click.Choice(list(LIMITS)), default="normal", show_default=True)
@click.option("--runs", type=click.IntRange(1), default=5, show_default=True, help="Times each is measured.")
def main(
    names: tuple[str, ...],
    peer_names: str,
    json_file: Path | None,
    plot_file: Path | None,
    size: str,
    runs: int,
) -> None:
    """Measure Showcaller beside its peers, in turns and each time in a fresh process.

    NAME is a row or a group of rows; "list" shows them all. The exit code says whether everything could be
    measured (0) or something failed (1), never whether it was fast.
    """
    if not names or names == ("list",):
        show_list()
        return
    try:
        rows = catalogue.chosen(names)
        wanted = [peer.by_name(name) for name in peer_names.split(",") if name not in {"", "none"}]
    except KeyError as fault:
        raise click.UsageError(str(fault.args[0])) from fault
    notes = Console(stderr=True, highlight=False)
    peers = installed(wanted, notes)
    facts = {**machine.facts(peers), "runs": f"{runs}, size {size}"}
    if size == "tiny":
        notes.print(
            "tiny jobs show that everything works; how fast it is they do not say, so no bars are shown"
        )
        rows = tuple(replace(row, bars={}, limit=None) for row in rows)
    comparisons = [compare(row, peers, size, runs, notes) for row in available(rows, notes)]
    Console(highlight=False).print(table.table(comparisons, facts))
    if json_file is not None:
        text = json.dumps(record.record(comparisons, facts), indent=2, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if plot_file is not None:
        plot_file.write_text(plot.draw(comparisons, facts), encoding="utf-8")
    if any(comparison.failures for comparison in comparisons):
        sys.exit(1)


def installed(wanted: list[Peer], notes: Console) -> list[Peer]:
    """Keep the peers that are here, and say how to get the others."""
    for absent in wanted:
        if not absent.installed:
            notes.print(f"{absent.name} is left out: it is not installed ({absent.install})")
    return [present for present in wanted if present.installed]


def available(rows: tuple[Row, ...], notes: Console) -> list[Row]:
    """Keep the rows that can be measured here, and say what the others lack."""
    reasons = {row.name: row.missing() for row in rows}
    for name, reason in reasons.items():
        if reason is not None:
            notes.print(f"{name} is left out: {reason}")
    return [row for row in rows if reasons[row.name] is None]


def compare(row: Row, peers: list[Peer], size: str, runs: int, notes: Console) -> Comparison:
    """Measure one row by everybody who takes part."""
    steps = plan.taking_part(row, peers, size)
    with notes.status(row.name) as status:

        def measure(step: plan.Step) -> float:
            status.update(f"{row.name}: {step.by}")
            return measuring.in_fresh_process(step.row, step.by, step.count, LIMITS[size])

        return plan.compare(steps, runs, measure)


def show_list() -> None:
    """Show the rows with their groups and bars, and the peers with what is installed."""
    console = Console(highlight=False, soft_wrap=True)
    for row in catalogue.every_row():
        bars = [f"{row.unit.show(row.limit)}"] if row.limit is not None else []
        bars += [f"{factor:g} × {name}" for name, factor in row.bars.items()]
        console.print(f"{row.name:16} {row.title}", f"[dim]{'; '.join(bars)}[/dim]" if bars else "")
    console.print()
    for name, rows in catalogue.GROUPS.items():
        console.print(f"{name:16} {', '.join(row.name for row in rows)}")
    console.print()
    for known in PEERS:
        state = "installed" if known.installed else f"not installed: {known.install}"
        console.print(f"{known.name:16} {state}")
    console.print(f"{US:16} is always measured")


if __name__ == "__main__":
    main(prog_name="python -m bench")
