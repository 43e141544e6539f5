"""What Showcaller costs and how it compares, in one command: ``python -m bench``."""
