"""What a worker process is told at its start, on its standard input, where no other process can read it."""

from pydantic import BaseModel, ConfigDict, Field

from showcaller.transport.worker.host import GRACE
from showcaller.transport.worker.worker_folder import WorkerName

ALONE_HOURS = 24.0


class WorkerOptions(BaseModel):
    """One line of JSON.

    ``address`` is where the relay listens, and ``token`` what it knows this worker by; ``folder`` is the
    worker's own; ``grace`` and ``alone`` are seconds: for work that is asked to end, and for
    which a worker goes on without its relay.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: WorkerName
    address: str = Field(pattern="^ipc:///.")
    token: str = Field(min_length=16)
    folder: str
    grace: float = Field(default=GRACE, ge=0)
    alone: float = Field(default=ALONE_HOURS * 3600, gt=0)
