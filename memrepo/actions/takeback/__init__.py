"""Actions that revert operations, and reject or restore memories."""
