"""The provider of agents, with a fake agent at its other end."""
