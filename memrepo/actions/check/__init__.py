"""Actions that validate files, commits and messages."""
