"""Checks of memory files and commits, which return the problems they find."""
