"""How many tests have passed and failed, read from the output of a known test runner."""

from showcaller.actors.relay.test_counts.runners import count_tests

__all__ = ["count_tests"]
