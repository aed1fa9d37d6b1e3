"""Write, reword and link memories by hand."""
