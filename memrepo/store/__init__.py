"""The only package that accesses git, SQLite and locks."""
