"""The tests, in the shape of the folders that they test."""
