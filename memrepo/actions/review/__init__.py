"""Actions that show pending runs and decide about them."""
