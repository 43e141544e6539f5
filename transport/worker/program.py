"""A worker's program: reads its options and serves until it is told to end."""

import asyncio
import logging
import os
import sys

from pydantic import ValidationError

from showcaller.transport.worker.guardian import Guarded, end_tree
from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.service import WorkerService

USAGE = 2


def run(guarded: Guarded) -> int:
    """Run a worker by the options on standard input; gives its exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        options = WorkerOptions.model_validate_json(sys.stdin.readline())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "options"
        sys.stderr.write(f"A worker is started by a relay, with a line of options: {where}: {first['msg']}\n")
        return USAGE
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        asyncio.run(_serve(options, guarded))
    finally:
        if guarded.is_over:  # nobody else would do it
            end_tree(guarded.marker)
    return 0


async def _serve(options: WorkerOptions, guarded: Guarded) -> None:
    await WorkerService(options, guarded).run()
