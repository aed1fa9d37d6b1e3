"""Findings: State -> Problems."""
