"""The bridge from a client's standard input and output to the MCP door: the standard library alone."""
