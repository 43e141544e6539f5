"""One module per peer: each figure that it can have, by its own best practice."""
