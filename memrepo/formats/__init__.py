"""Readers of other programs' memory formats. They return records with provenance, and problems."""
