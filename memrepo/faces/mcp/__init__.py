"""An MCP server with tools on top of the commands."""
