"""When watchers are woken and schedules fire, of what, and in which words: pure decisions."""
