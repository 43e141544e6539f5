"""RSpec."""

import re
from collections.abc import Sequence
from typing import Final

from showcaller.actors.relay.test_counts.tally import Found, out_of

_SUMMARY: Final = re.compile(
    r"(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?"
    r"(?:, (\d{1,9}) errors? occurred outside of examples)?"
)


def rspec(lines: Sequence[str]) -> Found | None:
    """Read RSpec's last line; an error outside of the examples counts as one more that failed."""
    for at in range(len(lines) - 1, -1, -1):
        if summary := _SUMMARY.fullmatch(lines[at]):
            examples, failures, pending, outside = (int(number or 0) for number in summary.groups())
            return out_of(examples + outside, failures + outside, pending).found("rspec", at)
    return None
