"""What became of the items of one run so far."""

from collections import Counter
from collections.abc import Iterable

from showcaller.actors.contract.fanout import ItemResult, ItemStatus, Summary

WORDS: dict[ItemStatus, str] = {
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "skipped": "not started",
}


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
        return self._told(WORDS) or "nothing ended"

    def trouble(self) -> str:
        """Give the sums of what ended otherwise than well; nothing when all went well."""
        return self._told([status for status in WORDS if status != "done"])

    def _told(self, statuses: Iterable[ItemStatus]) -> str:
        counts = ((WORDS[status], self._by_status[status]) for status in statuses)
        return ", ".join(f"{count:,} {word}" for word, count in counts if count)
