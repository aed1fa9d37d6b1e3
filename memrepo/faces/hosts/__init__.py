"""Hooks for the programs that agents run in."""
