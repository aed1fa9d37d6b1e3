"""Local web pages, which use the verbs of the command line to read memories and decide."""
