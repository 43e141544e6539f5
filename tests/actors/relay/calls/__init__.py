"""Tests of the tool calls."""
