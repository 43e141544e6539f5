"""How a card has ended, in words that follow its name."""

from typing import Final

HOW: Final = {
    "answered": "answered already",
    "dismissed": "dismissed already",
    "timed_out": "not answered in time",
    "withdrawn": "withdrawn, because the turn that asked it does not wait any more",
}
"""What is said of a card that has its end."""
CLOSED: Final = {
    "answered": "answered",
    "dismissed": "dismissed",
    "timed_out": "not answered in time",
    "withdrawn": "withdrawn: nobody waits for the answer any more",
}
"""What the event ``question_closed`` says: how a card has ended. The answer is for who asked alone."""
