"""Ingest sources and turn them into memories."""
