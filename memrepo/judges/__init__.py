"""Models and rules that judge candidates and clusters."""
