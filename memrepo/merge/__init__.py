"""Three states into one, an operation reverted, what was rejected kept out: all of it pure."""
