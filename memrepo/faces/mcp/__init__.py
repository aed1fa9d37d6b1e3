"""Memory for agents over MCP: tools on top of the commands."""
