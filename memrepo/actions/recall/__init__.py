"""Actions that find and show memories."""
