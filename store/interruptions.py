"""What is told of prompts that were cut, in the words of the store, which ends some of them by itself."""

from typing import Final

INTERRUPTED: Final = "the relay ended while this turn ran; it may have run in part"
UNACKNOWLEDGED: Final = "its turn ended before the agent acknowledged this message; it may have been read"
