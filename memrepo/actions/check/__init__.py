"""Validate files, commits and messages."""
