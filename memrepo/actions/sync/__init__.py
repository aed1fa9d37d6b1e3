"""Bring clones to one history."""
