"""A worker's program: reads its options and serves until it is told to end."""

import asyncio
import logging
import os
import sys
from pathlib import Path

from pydantic import ValidationError

from showcaller.transport.process_tuning import tune
from showcaller.transport.worker.bounded_log import BoundedLog, log_stream
from showcaller.transport.worker.guardian import Guarded, end_tree
from showcaller.transport.worker.options import WorkerOptions
from showcaller.transport.worker.service import WorkerService
from showcaller.transport.worker.worker_folder import WorkerFolder

USAGE = 2


def run(guarded: Guarded) -> int:
    """Run a worker by the options on standard input; gives its exit code."""
    try:
        options = WorkerOptions.model_validate_json(sys.stdin.readline())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "options"
        sys.stderr.write(f"A worker is started by a relay, with a line of options: {where}: {first['msg']}\n")
        return USAGE
    _log_into(WorkerFolder(Path(options.folder)).log)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        asyncio.run(_serve(options, guarded))
    finally:
        if guarded.is_over:  # nobody else would do it
            end_tree(guarded.marker, guarded.process.started)
    return 0


def _log_into(path: Path) -> None:
    """Write all that this process has to say, its standard streams included, into a log within bounds."""
    stream = log_stream(BoundedLog(path, stand_ins=(1, 2)))
    sys.stdout = sys.stderr = stream
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=stream
    )


async def _serve(options: WorkerOptions, guarded: Guarded) -> None:
    service = WorkerService(options, guarded)
    tune()
    await service.run()
