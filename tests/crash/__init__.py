"""Real processes that end at named points between any two writes, commits and hand-overs."""
