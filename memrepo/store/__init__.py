"""Git, SQLite and locks. Only this package accesses them."""
