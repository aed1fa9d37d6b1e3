"""Interfaces to memrepo: the command line, Python, MCP, web pages and agents' hooks."""
