"""Fan-outs in a simulated world: started, stopped, lost with their relay and resumed, one result per item."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from showcaller.actors.contract.errors import Code, Refusal
from showcaller.actors.contract.fanout import FanoutSpec, ItemResult
from showcaller.actors.relay.fanout_messages import FanoutRequest, StopFanout
from showcaller.actors.runtime import ActorDeadError
from tests.simulation.books import Broken
from tests.simulation.stored import Row, Stored

if TYPE_CHECKING:
    from tests.simulation.world import World

FINAL = ("done", "failed", "stopped")
ROUNDS = 4  # times that a fan-out is resumed in a calm world before it must be complete


class Ears:
    """Hears of one run of a fan-out."""

    def __init__(self, group: str, cut_groups: set[str]) -> None:
        self._group = group
        self._cut_groups = cut_groups
        self.results: list[ItemResult] = []
        self.ends: list[Exception | None] = []
        self.total: int | None = None
        self.ref: Any = None

    def ready(self, spec: FanoutSpec, name: str, total: int) -> None:
        """It begins."""
        self.total = total

    def moved(self, started: int, running: int) -> None:
        """So many run."""

    def result(self, result: ItemResult) -> None:
        """An item has its end."""
        self.results.append(result)

    def has_room(self) -> bool:
        """There is always room."""
        return True

    def finished(self, error: Exception | None) -> None:
        """Nothing more comes."""
        self.ends.append(error)
        if error is not None:
            self._cut_groups.add(self._group)


@dataclass
class Job:
    """A fan-out through all its runs."""

    group: str
    spec: FanoutSpec
    items: tuple[str, ...]
    runs: list[Ears] = field(default_factory=list[Ears])
    lost: bool = False  # its last run died with the relay

    @property
    def is_under_way(self) -> bool:
        """Whether its last run goes on."""
        return not self.lost and not self.runs[-1].ends


class Fanouts:
    """All fan-outs of a world, and what must hold of them."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.jobs: list[Job] = []
        self._recorded: dict[tuple[str, int], str] = {}

    # -- what is done to them ----------------------------------------------------------------------

    def start(self) -> None:
        """Start one with a few items."""
        world, random = self._world, self._world.random
        number = len(self.jobs) + 1
        items = tuple(f"f{number}-{n}" for n in range(random.randrange(1, 7)))
        spec = FanoutSpec(
            kind="command",
            template="run {}",
            provider="command",
            jobs=random.randrange(1, 4),
            retries=random.choice((0, 0, 1, 2)),
            rerun=random.random() < 0.7,
            cwd=str(world.home),
        )
        job = Job(world.new_id("grp_"), spec, items)
        self.jobs.append(job)
        world.say("fanout", f"{job.group} starts with {len(items)} items, {spec.jobs} at a time")
        self._run(job, FanoutRequest(job.group, None, spec, items, self._ears(job)))

    def resume(self, job: Job) -> None:
        """Go on with one that has ended, or was lost with its relay."""
        self._world.say("fanout", f"{job.group} is resumed")
        self._run(job, FanoutRequest(job.group, None, None, None, self._ears(job)))

    def _ears(self, job: Job) -> Ears:
        job.lost = False
        job.runs.append(Ears(job.group, self._world.books.cut_groups))
        return job.runs[-1]

    def _run(self, job: Job, request: FanoutRequest) -> None:
        ears = job.runs[-1]
        asked = self._world.life.supervisor.request(request)
        asked.add_done_callback(lambda done: _note(ears, done))

    def stop(self, job: Job) -> None:
        """Stop one; what runs is interrupted."""
        self._world.say("fanout", f"{job.group} is stopped")
        self._world.books.cut_groups.add(job.group)
        if job.runs[-1].ref is not None:
            try:
                job.runs[-1].ref.tell(StopFanout())
            except ActorDeadError:
                return  # it has ended by itself

    def act(self) -> None:
        """Start, stop or resume one, as drawn."""
        random = self._world.random
        job = random.choice(self.jobs) if self.jobs and random.random() < 0.7 else None
        if job is None:
            self.start()
        elif not job.is_under_way:
            self.resume(job)
        elif random.random() < 0.5:
            self.stop(job)

    def lose(self) -> None:
        """The relay has ended, and with it what was under way."""
        for job in self.jobs:
            if job.is_under_way:
                job.lost = True

    # -- what must hold ----------------------------------------------------------------------------

    def check(self, stored: Stored) -> None:
        """Compare what was heard with what is recorded; raises Broken."""
        rows = {(row["group"], row["number"]): row for row in stored.items}
        for job in self.jobs:
            for ears in job.runs:
                self._check_run(job, ears)
            for result in [result for ears in job.runs for result in ears.results]:
                self._check_result(job, result, rows[job.group, result.number])
        for key, row in rows.items():
            self._check_row(key, row, stored)
        self._check_bounds()

    def _check_run(self, job: Job, ears: Ears) -> None:
        if len(ears.ends) > 1:
            raise Broken(f"{job.group} ended twice in one run: {ears.ends}")
        numbers = [result.number for result in ears.results]
        if len(set(numbers)) != len(numbers):
            raise Broken(f"{job.group} gave two results for an item in one run: {numbers}")
        error = ears.ends[0] if ears.ends else None
        if isinstance(error, Refusal) and error.code is Code.INTERNAL:
            raise Broken(f"{job.group} ended with a mistake: {error}")
        if ears.ends == [None] and len(numbers) != len(job.items):
            raise Broken(f"{job.group} ended with {len(numbers)} results for {len(job.items)} items")

    def _check_result(self, job: Job, result: ItemResult, row: Row) -> None:
        is_final = result.status in FINAL or (result.status == "interrupted" and not job.spec.rerun)
        if row["status"] is None:
            if result.status == "done":
                raise Broken(f"{job.group} reported {result} and recorded nothing")
        elif is_final and result.status != row["status"] and result.status == "done":
            raise Broken(f"{job.group} reported {result} and recorded {row}")

    def _check_row(self, key: tuple[str, int], row: Row, stored: Stored) -> None:
        status = row["status"]
        if status is not None and self._recorded.setdefault(key, status) != status:
            raise Broken(f"item {key} was recorded as {self._recorded[key]} and now as {status}")
        attempts = [m for m in stored.of(row["session"] or "") if m["fanout"] == row["group"]]
        if row["attempts"] != len(attempts):
            raise Broken(f"item {key} counts {row['attempts']} attempts and has {len(attempts)}")
        if status is not None and any(m["status"] in {"queued", "handed"} for m in attempts):
            raise Broken(f"item {key} is recorded as {status} and an attempt at it is under way")
        if status == "done" and attempts[-1]["status"] != "done":
            raise Broken(f"item {key} is recorded as done, and its last attempt is {attempts[-1]}")

    def _check_bounds(self) -> None:
        """No more items run than may; runs that were cut may leave turns that are being stopped."""
        for job in self.jobs:
            if len(job.runs) == 1 and job.is_under_way:
                running = [
                    work
                    for work in self._world.life.port.worker.open.values()
                    if work.run.text[4:] in job.items
                ]
                if len(running) > job.spec.jobs:
                    raise Broken(f"{job.group} runs {len(running)} items, {job.spec.jobs} may")

    # -- the end -----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Resume what was cut until every item has its one recorded result; raises Broken when that fails."""
        for _ in range(ROUNDS):
            self._world.settle()
            for job in self._open_jobs():
                if not job.is_under_way:
                    self.resume(job)
        self._world.settle()
        left = self._open_jobs()
        if left:
            job = left[0]
            heard = [(run.ends, [str(result) for result in run.results]) for run in job.runs[-2:]]
            raise Broken(f"{job.group} is never complete: {heard}")

    def _open_jobs(self) -> list[Job]:
        stored = Stored(self._world.life.path)
        unfinished = {row["group"] for row in stored.items if row["status"] is None}
        known = {row["group"] for row in stored.items}
        return [
            job for job in self.jobs if job.group in unfinished or (job.group in known and job.is_under_way)
        ]


def _note(ears: Ears, done: Any) -> None:
    """Keep the fan-out's ref, or the refusal to begin it."""
    try:
        ears.ref = done.get()
    except Exception as error:  # noqa: BLE001 - whatever it is, this run has ended with it
        ears.finished(error)
