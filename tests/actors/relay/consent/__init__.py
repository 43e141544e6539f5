"""Tests of the decisions about consent."""
