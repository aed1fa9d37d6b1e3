"""Taking a value out of history, here and in every clone."""
