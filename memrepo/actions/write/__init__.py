"""Actions that write, reword and link memories by hand."""
