"""Checks of memory files and commits. They return problems."""
