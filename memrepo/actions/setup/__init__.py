"""Make a repository, and see that all is in place."""
