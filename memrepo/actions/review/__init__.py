"""Look at what waits, and decide."""
