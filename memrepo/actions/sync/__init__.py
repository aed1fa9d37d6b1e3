"""Actions that concern all clones of a repository."""
