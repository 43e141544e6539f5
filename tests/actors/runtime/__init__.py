"""Tests of the actor runtime."""
