"""One module per verb: load the state, call pure code, store the plan, return the result."""
