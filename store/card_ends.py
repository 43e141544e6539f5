"""How a card has ended, in words that follow its name."""

from typing import Final

HOW: Final = {
    "answered": "answered already",
    "dismissed": "dismissed already",
    "timed_out": "not answered in time",
    "withdrawn": "withdrawn, because the turn that asked it does not wait any more",
}
"""What is said of a card that has its end."""
