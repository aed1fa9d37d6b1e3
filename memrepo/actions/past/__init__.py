"""Actions that show history."""
