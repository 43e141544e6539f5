"""pykka's own suite and its documented examples, run over our actor class."""
