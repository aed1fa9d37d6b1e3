"""Actions that synchronise clones of a repository."""
