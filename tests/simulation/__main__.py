"""Run the simulation from the command line: ``python -m tests.simulation replay SEED``, or ``run``."""

import argparse
import sys
import time

from tests.simulation.runs import live_through, live_through_many


def main() -> int:
    """Replay a seed, or run many; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    replay = commands.add_parser("replay", help="live through one seed's world and print what happened")
    replay.add_argument("seed", type=int)
    run = commands.add_parser("run", help="live through many seeds' worlds")
    run.add_argument("--seeds", type=int, default=1000, help="how many")
    run.add_argument("--first", type=int, default=0, help="the first one")
    run.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    if arguments.command == "replay":
        return _replay(arguments.seed)
    return _run(arguments.first, arguments.seeds, arguments.jobs)


def tell(line: str) -> None:
    """Write a line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _replay(seed: int) -> int:
    outcome = live_through(seed)
    sys.stdout.write(outcome.trace)
    if outcome.failure is None:
        tell(f"seed {seed}: every promise held, in {outcome.steps} steps")
        return 0
    tell(f"seed {seed}: {outcome.failure}")
    return 1


def _run(first: int, count: int, jobs: int) -> int:
    began = time.monotonic()
    failed = 0
    for done, outcome in enumerate(live_through_many(range(first, first + count), jobs), 1):
        if outcome.failure is not None:
            failed += 1
            tell(outcome.told)
        if done % 500 == 0 or done == count:
            seconds = time.monotonic() - began
            tell(f"{done} of {count} seeds, {failed} failed, {done / seconds:.1f} seeds/s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
