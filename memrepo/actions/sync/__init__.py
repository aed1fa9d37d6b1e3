"""Actions that synchronise clones."""
