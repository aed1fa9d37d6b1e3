"""Requests in, results out: the command line, Python, MCP and the hosts' hooks."""
