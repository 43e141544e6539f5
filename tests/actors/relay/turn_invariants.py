"""What always holds in the world of a session's turns, whatever has happened in it."""

from hypothesis.stateful import RuleBasedStateMachine, invariant

from showcaller.actors.relay.turn_state import TurnState
from tests.actors.relay.turn_store import Accept, ModelStore


class TurnInvariants(RuleBasedStateMachine):
    """The rules, and the books of a world that they are about."""

    state: TurnState
    store: ModelStore
    is_held: bool
    out_of_order: set[str]
    timers: int
    working: set[str]
    sent: list[str]
    steered: list[str]
    shown: list[str]
    announced: list[str]

    @invariant()
    def at_most_one_turn_is_with_a_worker(self) -> None:
        assert len(self.working) <= 1
        if not self.state.closing:  # which may leave what the store refuses to the next start
            turns = [row for row in self.store.with_status("handed") if row.steered_into is None]
            assert len(turns) <= 1

    @invariant()
    def the_order_of_acceptance_is_kept(self) -> None:
        """Only what a fan-out has cut lets others pass, and an agent that goes on by itself."""
        queue = [waiting.id for waiting in self.state.queue]
        assert queue == sorted(queue)
        shown = [message for message in self.shown if message not in self.out_of_order]
        assert shown == sorted(shown)
        waiting = [message for message in queue if message not in self.out_of_order]
        if shown and waiting:
            assert shown[-1] < waiting[0]

    @invariant()
    def each_message_has_one_end(self) -> None:
        assert len(self.announced) == len(set(self.announced))
        assert not set(self.sent) & set(self.steered), "in two turns"

    @invariant()
    def one_write_about_the_turn_is_under_way_at_most(self) -> None:
        promised = [
            command for command in self.store.pipe if isinstance(command, Accept) and command.hand_over
        ]
        assert len(self.store.of_turn) + len(promised) <= 1
        assert self.state.arriving == (promised[0].message.id if promised else None)

    @invariant()
    def nobody_waits_for_a_store_that_is_not_asked(self) -> None:
        if self.state.pausing:
            assert self.timers
            assert not self.store.of_turn

    @invariant()
    def the_books_agree(self) -> None:
        assert self.state.held == self.is_held
        if not self.store.pipe and not self.state.hold_unstored and not self.store.archived:
            assert self.state.held == self.store.held
        for waiting in self.state.queue:
            assert self.store.status(waiting.id) in {"queued", "cancelled"}
