"""What a seed makes likely in its world: few have every trouble, so that each is seen alone too."""

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Chances:
    """How one world behaves; a chance is between 0 and 1.

    ``relay_first``: the relay's own step comes before what is on its way, where both could. ``eager``: a
    caller acts at a step. ``quiet``: everybody waits until all is settled, and every view is compared.
    ``late``: something on its way takes a while. ``direct``: the link keeps order within sessions only, and
    does not number.
    """

    moves: int
    relay_first: float
    eager: float
    quiet: float
    late: float
    latest: float
    direct: bool
    doubled: float
    reordered: float
    writer_dies: float
    writer_lost: float
    batch_again: float
    writer_actor_fails: float
    disk_fills: float
    read_fails: float
    worker_dies: float
    relay_dies: float
    relay_closes: float
    obeys: float
    fails: float
    slow_turns: float
    fanouts: float
    tasks: float
    takes: float
    put_away: float
    agents: float
    outlives: bool
    burst: float

    @property
    def is_calm(self) -> bool:
        """Whether nothing of the relay's surroundings ever fails here."""
        return not (
            self.writer_actor_fails
            or self.disk_fills
            or self.read_fails
            or self.worker_dies
            or self.relay_dies
            or self.relay_closes
        )


def draw_chances(random: Random) -> Chances:
    """Draw a world's chances: each trouble is there in about every second world."""

    def maybe(most: float, there: float = 0.5) -> float:
        return random.random() * most if random.random() < there else 0.0

    return Chances(
        moves=random.randrange(8, 60),
        relay_first=random.choice((0.3, 0.6, 0.9, 0.98)),
        eager=random.choice((0.01, 0.05, 0.2)),
        quiet=maybe(0.15, 0.7),
        late=maybe(0.6),
        latest=random.choice((0.01, 0.5, 20.0)),
        direct=random.random() < 0.5,
        doubled=maybe(0.3),
        reordered=maybe(0.9),
        writer_dies=maybe(0.2),
        writer_lost=maybe(0.2),
        batch_again=maybe(0.2),
        writer_actor_fails=maybe(0.05, 0.25),
        disk_fills=maybe(0.15, 0.4),
        read_fails=maybe(0.1, 0.25),
        worker_dies=maybe(0.1, 0.4),
        relay_dies=maybe(0.15, 0.5),
        relay_closes=maybe(0.15, 0.4),
        obeys=random.choice((0.2, 0.7, 1.0)),
        fails=random.choice((0.05, 0.4)),
        slow_turns=random.choice((0.05, 0.3, 0.7)),
        fanouts=maybe(0.15, 0.4),
        tasks=maybe(0.3, 0.4),
        takes=random.choice((0.0, 0.5, 1.0)),
        put_away=maybe(0.15, 0.4),
        agents=maybe(0.8, 0.4),
        outlives=random.random() < 0.3,
        burst=maybe(0.3, 0.15),
    )
