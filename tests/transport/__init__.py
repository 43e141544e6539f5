"""Tests of everything that crosses a border of the process."""
