"""Find and show memories."""
