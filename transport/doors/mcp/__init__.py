"""The MCP door: the tool over streamable HTTP, on the low-level server of the package ``mcp``."""
