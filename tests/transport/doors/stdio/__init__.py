"""The bridge over standard input and output."""
