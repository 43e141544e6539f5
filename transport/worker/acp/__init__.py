"""The provider of agents that speak the Agent Client Protocol over their standard input and output."""
