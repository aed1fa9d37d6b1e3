"""Look into the history."""
