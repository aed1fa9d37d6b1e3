"""Models and rules that judge."""
