"""Generate pages from a State, as text."""
