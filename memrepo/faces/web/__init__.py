"""Local web pages for reading the memory and for decisions, which use the same verbs."""
