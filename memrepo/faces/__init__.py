"""Interfaces to memrepo: command line, Python API, MCP server, web pages and hooks of agents."""
