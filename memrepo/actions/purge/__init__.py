"""Actions that remove a value from history in this clone and in all other clones."""
