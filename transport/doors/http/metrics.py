"""What Prometheus reads: counted as it happens, or looked up at the moment of reading."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from showcaller.actors.contract.actions import ACTIONS
from showcaller.actors.runtime import BaseDispatcher

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_WAITS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600)


class Gauges(NamedTuple):
    """What is the case at one moment."""

    sessions_awake: int
    turns_running: int
    turns_queued: int
    tasks_running: int
    fanouts_running: int


class Metrics:
    """The relay's figures. Thread-safe."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # each counter's time of making is the relay's start
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "showcaller_calls",
            "Calls by action and code; ok is the code of those carried out.",
            ["action", "code"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "showcaller_call_seconds",
            "Time from a call to its result, waiting included.",
            ["action"],
            buckets=_WAITS,
            registry=self._registry,
        )
        self._batches = Counter("showcaller_writer_batches", "Batches written.", registry=self._registry)
        self._commands = Counter(
            "showcaller_writer_commands", "Commands in the batches written.", registry=self._registry
        )
        ProcessCollector(registry=self._registry)

    def call(self, arguments: Any, result: Mapping[str, Any], seconds: float) -> None:
        """Count a call; ``seconds`` is how long it took."""
        named = arguments.get("action") if isinstance(arguments, dict) else None
        action = named if isinstance(named, str) and named in ACTIONS else "unknown"
        code = "ok" if result.get("ok") else str(result.get("code"))
        self._calls.labels(action, code).inc()
        self._seconds.labels(action).observe(seconds)

    def batch(self, commands: int) -> None:
        """Count a batch of so many commands that goes to the writer."""
        self._batches.inc()
        self._commands.inc(commands)

    def text(self, gauges: Gauges, dispatcher: BaseDispatcher) -> bytes:
        """Give all figures in the text format of Prometheus."""
        now = CollectorRegistry()
        now.register(_Now(gauges, dispatcher))
        return generate_latest(self._registry) + generate_latest(now)


class _Now:
    """A collector of what is looked up."""

    def __init__(self, gauges: Gauges, dispatcher: BaseDispatcher) -> None:
        self._gauges = gauges
        self._dispatcher = dispatcher

    def collect(self) -> Iterable[Metric]:
        yield _gauge("sessions_awake", "Sessions whose actors are awake.", self._gauges.sessions_awake)
        yield _gauge("turns_running", "Turns that a worker has.", self._gauges.turns_running)
        yield _gauge("turns_queued", "Prompts that wait.", self._gauges.turns_queued)
        yield _gauge("tasks_running", "Tasks that run in the background.", self._gauges.tasks_running)
        yield _gauge("fanouts_running", "Fan-outs under way.", self._gauges.fanouts_running)
        yield from _actors(self._dispatcher)


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"showcaller_{name}", meaning, value=value)


def _actors(dispatcher: BaseDispatcher) -> Iterable[Metric]:
    counted = {
        "messages": CounterMetricFamily(
            "showcaller_actor_messages", "Messages handled, by class of actor.", labels=["actor"]
        ),
        "failures": CounterMetricFamily(
            "showcaller_actor_failures", "Lives that failed, by class of actor.", labels=["actor"]
        ),
        "restarts": CounterMetricFamily(
            "showcaller_actor_restarts", "Lives begun anew, by class of actor.", labels=["actor"]
        ),
        "seconds": CounterMetricFamily(
            "showcaller_actor_seconds", "Time in handlers, by class of actor.", labels=["actor"]
        ),
    }
    longest = GaugeMetricFamily(
        "showcaller_actor_mailbox_longest", "The longest mailbox so far, by class of actor.", labels=["actor"]
    )
    for actor, counters in dispatcher.counters().items():
        for name, family in counted.items():
            family.add_metric([actor.__name__], getattr(counters, name))
        longest.add_metric([actor.__name__], counters.high_water)
    yield from counted.values()
    yield longest
    yield CounterMetricFamily(
        "showcaller_dead_letters", "Messages that reached nobody.", value=dispatcher.dead_letters
    )
    yield CounterMetricFamily(
        "showcaller_late_replies",
        "Replies that came after their asker's time.",
        value=dispatcher.late_replies,
    )
