"""Tests of the relay's domain, under a manual dispatcher."""
