"""A conversation that watches others on a stage, and what has come to it."""

from typing import Any

from showcaller.actors.contract.provider_entries import BUILT_IN, ProviderCatalogue, ProviderEntry
from showcaller.actors.contract.worker import RunTurn
from showcaller.actors.relay.settings_keeper import SetSetting
from tests.actors.relay.calls.agents import HELPER, OPEN, agent, end_turn
from tests.actors.relay.conftest import OpenStage
from tests.actors.relay.stage import Stage

OF_TURNS = ["turn_end", "error", "archived"]
PROVIDERS = ProviderCatalogue(
    *BUILT_IN,
    HELPER,
    ProviderEntry("watcher", "Watcher", agents_may_start=True, kind="acp"),
    ProviderEntry("joiner", "Joiner", kind="acp", steers=True),
)


def open_scene(open_stage: OpenStage, provider: str = "watcher", **settings: Any) -> "Scene":
    """Open a stage on which agents may work, with a watcher of this provider."""
    return Scene(open_stage(settings=OPEN.model_copy(update=settings), providers=PROVIDERS), provider)


class Scene:
    """A watcher that rests, and sessions that work."""

    def __init__(self, stage: Stage, provider: str) -> None:
        self.stage = stage
        self.watcher = agent(stage, "watch", provider=provider)
        self.sessions = [stage.create(name, provider="helper", title=name)[0] for name in ("one", "two")]

    def rest(self) -> None:
        """End the watcher's turn."""
        end_turn(self.stage, self.watcher.session)

    def set(self, **settings: Any) -> None:
        """Set settings, as their owner does."""
        for name, value in settings.items():
            done = self.stage.supervisor.request(SetSetting(name, value))
            self.stage.settle()
            assert getattr(done.get(), name) == value

    def subscribe(self, *sessions: str, **more: Any) -> str:
        named = list(sessions) or self.sessions
        made = self.watcher.call("subscribe", sessions=named, **{"events": OF_TURNS, **more})
        assert made["ok"], made
        name: str = made["subscription_id"]
        return name

    @property
    def wakings(self) -> list[list[str]]:
        """The lines of each wake-up that has come to the watcher's agent, without the first."""
        return [run.text.splitlines()[1:] for run in self.runs]

    @property
    def runs(self) -> list[RunTurn]:
        session = self.watcher.session
        return [run for run in self.stage.workers.runs if run.session == session][1:]

    @property
    def stored(self) -> list[str]:
        """The wake-ups that stand in the watcher's conversation, oldest first."""
        page = self.stage.read("read_messages", session=self.watcher.session, last=50, before=None)
        return [row["text"] for row in page["messages"] if row["origin"] == "wakeup"]
