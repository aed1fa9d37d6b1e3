"""Actions that set up a repository and check its installation."""
