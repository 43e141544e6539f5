"""Tests of the benchmarks: that each works, never how fast it is."""
