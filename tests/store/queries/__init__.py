"""Tests of the store's queries."""
