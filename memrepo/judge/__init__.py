"""Judges: read documents and answer with operations on the memory."""
