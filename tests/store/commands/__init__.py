"""Tests of the store's commands."""
