"""The whole program as people run it: real processes, a real database, real commands."""
