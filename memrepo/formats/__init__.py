"""Readers for the memory formats of other programs, returning records and problems."""
