"""What became of the items of one run so far."""

from collections import Counter

from showcaller.actors.contract.fanout import ItemResult, ItemStatus, Summary

STATUSES: tuple[ItemStatus, ...] = ("done", "failed", "stopped", "interrupted", "skipped")


class Tally:
    """Counts results by status. One thread counts, any thread may read."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.ended = 0
        self._by_status: Counter[ItemStatus] = Counter()

    def count(self, result: ItemResult) -> None:
        """Count one result."""
        self._by_status[result.status] += 1
        self.ended += 1

    @property
    def bad(self) -> int:
        """How many items ended otherwise than well."""
        return self.ended - self._by_status["done"]

    @property
    def all_done(self) -> bool:
        """Whether every item ended, and ended well."""
        return self._by_status["done"] == self.total

    @property
    def unfinished(self) -> int:
        """How many items a resume would still have to run."""
        return self.total - self.ended + self._by_status["interrupted"] + self._by_status["skipped"]

    def summary(self, seconds: float) -> Summary:
        """Give the sums of a run that took so many seconds."""
        return Summary.of(self._by_status.elements(), round(seconds, 3))

    def sentence(self) -> str:
        """Give the sums as people read them, without what did not occur."""
        counts = ((status, self._by_status[status]) for status in STATUSES)
        return ", ".join(f"{count:,} {status}" for status, count in counts if count) or "nothing ended"
