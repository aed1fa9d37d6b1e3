"""Derived pages: State -> text."""
