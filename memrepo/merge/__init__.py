"""Three states into one, an operation taken back, what was rejected kept out: all of it pure."""
