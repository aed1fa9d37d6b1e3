"""memrepo: an AI agent's memory as plain markdown files in a git repository."""

__version__ = "0.1.0"
