"""Tests of the command line against a fake relay."""
