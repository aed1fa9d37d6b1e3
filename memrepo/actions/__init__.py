"""The actions, one module per verb: each loads the state, stores a plan and returns a result."""
