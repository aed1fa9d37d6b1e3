"""Memory for agents over MCP: tools, resources and prompts on top of the commands."""
