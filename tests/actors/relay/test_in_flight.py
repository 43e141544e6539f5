"""What is known of the turn under way: what it writes and does."""

from showcaller.actors.contract.worker import TurnActivity, TurnOutput
from showcaller.actors.relay.in_flight import InFlight


def test_the_last_lines_of_what_a_turn_does_are_known_until_it_ends() -> None:
    flight = InFlight()
    flight.begin("msg_a")
    flight.add(TurnOutput(session="ses_a", turn="msg_a", text="hi"))
    for number in range(4):
        flight.act(TurnActivity(session="ses_a", turn="msg_a", lines=(f"{number}a", f"{number}b")))
    flight.act(TurnActivity(session="ses_a", turn="msg_late", lines=("late",)))
    assert (flight.text, flight.activity) == ("hi", ("1b", "2a", "2b", "3a", "3b"))
    flight.end()
    assert (flight.text, flight.activity) == ("", ())
