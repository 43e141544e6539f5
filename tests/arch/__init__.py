"""The shape of the project: who may import whom, what the checkers see, what is shipped."""
