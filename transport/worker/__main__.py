"""``python -m showcaller.transport.worker MARKER``: a worker process and its guardian, started by a relay."""

import sys

from showcaller.transport.worker.guardian import stand_guard


def main() -> int:
    """Part into guardian and worker before anything is loaded that only the worker needs; gives the code."""
    if len(sys.argv) != 2:
        sys.stderr.write("A worker is started by a relay, which gives it a marker\n")
        return 2
    guarded = stand_guard(sys.argv[1])
    from showcaller.transport.worker.program import run

    return run(guarded)


if __name__ == "__main__":
    sys.exit(main())
