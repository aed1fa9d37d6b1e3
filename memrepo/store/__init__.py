"""Git, SQLite and locks: the only ring that touches them."""
