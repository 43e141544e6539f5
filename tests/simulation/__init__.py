"""A whole relay in a world drawn from a seed, which tries to break its promises; see ``world.py``."""
