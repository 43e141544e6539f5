"""Tests of the forms in which a conversation is exported."""
