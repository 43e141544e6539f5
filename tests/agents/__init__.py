"""Agents that speak the Agent Client Protocol, fake and real, for the tests."""
