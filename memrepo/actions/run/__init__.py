"""Actions that ingest sources and turn them into memories."""
